const ONES =
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
  eighteen nineteen`.split(/\s+/)
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const SCALES = [
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
] as const
const ORDINALS: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
}

/** A whole number from 0 to 999 trillion in words: 1042 is "one thousand forty-two". */
export function englishCardinal(value: number): string {
  if (value < 20) return ONES[value]!
  if (value < 100) {
    const ones = value % 10
    return ones === 0 ? TENS[value / 10]! : `${TENS[Math.floor(value / 10)]}-${ONES[ones]}`
  }
  if (value < 1000) {
    const rest = value % 100
    return `${ONES[Math.floor(value / 100)]} hundred${rest === 0 ? '' : ` ${englishCardinal(rest)}`}`
  }
  const [scale, name] = SCALES.find(([size]) => value >= size)!
  const rest = value % scale
  return `${englishCardinal(Math.floor(value / scale))} ${name}${rest === 0 ? '' : ` ${englishCardinal(rest)}`}`
}

/** 21 is "twenty-first". */
export function englishOrdinal(value: number): string {
  const words = englishCardinal(value)
  const last = /[a-z]+$/.exec(words)![0]
  const ordinal = ORDINALS[last] ?? `${last.replace(/y$/, 'ie')}th`
  return words.slice(0, -last.length) + ordinal
}

/** 1984 is "nineteen eighty-four", 2005 "two thousand five", 2026 "twenty twenty-six". */
export function englishYear(year: number): string {
  const [century, rest] = [Math.floor(year / 100), year % 100]
  if (year < 1000 || (year >= 2000 && year < 2010)) return englishCardinal(year)
  if (rest === 0) return century % 10 === 0 ? englishCardinal(year) : `${englishCardinal(century)} hundred`
  return `${englishCardinal(century)} ${rest < 10 ? `oh ${ONES[rest]}` : englishCardinal(rest)}`
}
