/** 97.5 % quantile of the standard normal distribution. */
const Z = 1.959963984540054

/** The 95 % interval of a probability. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** Trials that passed, of how many. */
export interface Passed {
  readonly passed: number
  readonly trials: number
}

/** Wilson's score interval at 95 % of the probability to pass; without trials from 0 to 1. */
export function wilsonInterval({ passed, trials }: Passed): Interval {
  if (trials === 0) return { low: 0, high: 1 }
  const rate = passed / trials
  const scale = 1 + Z ** 2 / trials
  const centre = (rate + Z ** 2 / (2 * trials)) / scale
  const half = (Z * Math.sqrt((rate * (1 - rate)) / trials + Z ** 2 / (4 * trials ** 2))) / scale
  return {
    low: passed === 0 ? 0 : Math.max(0, centre - half),
    high: passed === trials ? 1 : Math.min(1, centre + half),
  }
}

/** Newcombe's interval at 95 % (method 10, from two Wilson intervals) of the first probability less the second. */
export function differenceInterval(first: Passed, second: Passed): Interval {
  const [one, two] = [wilsonInterval(first), wilsonInterval(second)]
  const [rate, other] = [rateOf(first), rateOf(second)]
  const difference = rate - other
  return {
    low: Math.max(-1, difference - Math.hypot(rate - one.low, two.high - other)),
    high: Math.min(1, difference + Math.hypot(one.high - rate, other - two.low)),
  }
}

function rateOf({ passed, trials }: Passed): number {
  return trials === 0 ? 0 : passed / trials
}
