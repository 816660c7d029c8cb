package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// decimal is digits x 10^exponent, the digits without a zero at their end.
type decimal struct {
	digits   *big.Int
	exponent int64
}

// decimalOf reads a number whose text is legal.
func decimalOf(n json.Number) (decimal, bool) {
	mantissa, exponent := string(n), int64(0)
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.ParseInt(mantissa[i+1:], 10, 64); err != nil {
			return decimal{}, false
		}
		mantissa = mantissa[:i]
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	exponent -= int64(len(part))
	written := whole + part
	trimmed := strings.TrimRight(written, "0")
	if strings.Trim(trimmed, "-") == "" {
		return decimal{digits: new(big.Int)}, true
	}
	exponent += int64(len(written) - len(trimmed))
	digits, ok := new(big.Int).SetString(trimmed, 10)
	return decimal{digits, exponent}, ok
}

// isMultiple reports whether n is a whole multiple of the positive number of,
// exactly, without writing out any power of ten.
func isMultiple(n, of json.Number) bool {
	a, ok := decimalOf(n)
	b, okToo := decimalOf(of)
	if !ok || !okToo {
		return false
	}
	if a.digits.Sign() == 0 {
		return true
	}
	if a.exponent < b.exponent {
		// The digits of a would have to be a multiple of a power of ten, and end with
		// no zero.
		return false
	}
	// a/b is whole when (digits of a x 10^k) mod (digits of b) is 0.
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(a.exponent-b.exponent), b.digits)
	rest := power.Mul(power, a.digits)
	return rest.Mod(rest, b.digits).Sign() == 0
}
