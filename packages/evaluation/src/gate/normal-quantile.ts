const CENTRE_NUMERATOR = [
  -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
  2.506628277459239,
]
const CENTRE_DENOMINATOR = [
  -5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1,
]
const TAIL_NUMERATOR = [
  -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
]
const TAIL_DENOMINATOR = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1]
/** Below this probability, and above its complement, the formula of the tails holds. */
const TAIL = 0.02425

/**
 * The quantile of the standard normal distribution at a probability between 0 and 1, by Acklam's rational approximation
 * (relative error below 1.2e-9).
 */
export function normalQuantile(probability: number): number {
  if (probability < TAIL) return tail(probability)
  if (probability > 1 - TAIL) return -tail(1 - probability)
  const q = probability - 0.5
  return (q * polynomial(CENTRE_NUMERATOR, q * q)) / polynomial(CENTRE_DENOMINATOR, q * q)
}

function tail(probability: number): number {
  const q = Math.sqrt(-2 * Math.log(probability))
  return polynomial(TAIL_NUMERATOR, q) / polynomial(TAIL_DENOMINATOR, q)
}

/** Horner's rule; the coefficient of the highest power comes first. */
function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}
