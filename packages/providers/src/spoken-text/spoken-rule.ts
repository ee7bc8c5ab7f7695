/** One kind of text that is spoken in other words than it is written. */
export interface SpokenRule {
  /** Global and with Unicode; matches whole expressions only. */
  readonly pattern: RegExp
  /** What is said; null: the text as it is written. */
  readonly spoken: (match: RegExpExecArray) => string | null
}

/** Largest number that is said as a number: longer ones are said digit by digit. */
export const LARGEST = 999_999_999_999

/** Not inside of a word or a number. */
const BEFORE = String.raw`(?<![\p{L}\p{N}]|[\p{N}][.,:/-])`
const AFTER = String.raw`(?![\p{L}\p{N}]|[.,:/-]\p{N})`

export function rule(pattern: string, spoken: SpokenRule['spoken'], flags = ''): SpokenRule {
  return { pattern: new RegExp(`${BEFORE}(?:${pattern})${AFTER}`, `gu${flags}`), spoken }
}

/** Groups of digits, one digit after the other, with commas between the groups. */
export function digitByDigit(groups: readonly string[], names: readonly string[]): string {
  return groups.map(group => [...group].map(digit => names[Number(digit)]).join(' ')).join(', ')
}

/** "anna.bell@example.com" in words. */
function addressInWords(address: string, words: Readonly<Record<string, string>>): string {
  return address
    .replace(/[@._-]/g, mark => ` ${words[mark]} `)
    .replace(/\s+/g, ' ')
    .trim()
}

/** The rules for e-mail and web addresses. */
export function addressRule(words: Readonly<Record<string, string>>): SpokenRule {
  return rule(
    String.raw`[\p{L}\p{N}._-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+|(?:www\.)(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}`,
    ([address]) => addressInWords(address, words),
  )
}

/** Groups of digits of a telephone number: with a plus, or with blanks, brackets or hyphens between the groups, or seven digits and more. */
export const TELEPHONE = String.raw`\+\p{Nd}[\p{Nd}() .-]{5,18}\p{Nd}|\(\p{Nd}{2,4}\)[ -]?\p{Nd}{2,4}(?:[ -]\p{Nd}{2,4})+|\p{Nd}{2,4}(?:[ -]\p{Nd}{2,4}){2,5}|\p{Nd}{7,}`

export function digitGroups(text: string): string[] {
  return text.match(/\d+/g) ?? []
}

/** Whether the numbers are a day of a month, and the year, where there is one, is plausible. */
export function isDate(day: number, month: number): boolean {
  return day >= 1 && day <= 31 && month >= 1 && month <= 12
}
