module hardshell

go 1.26.8
