import type { Language } from './language.ts'
import { sentence } from './speech/clause.ts'

/** Members that hold a text made to be said, the best first. */
const SPOKEN = ['message', 'speech', 'text', 'summary', 'answer', 'mensaje']
const MOST_MEMBERS = 12
const MOST_CHARACTERS = 1000
const FAILED = /^(?:false|failed|failure|error|uncertain|denied|rejected)$/i

/** A tool's result in words: its text made to be said, else its scalar members; null where it holds neither. */
export function resultInWords(content: string, language: Language): string | null {
  const value = parsed(content)
  if (typeof value === 'string') return sentence(value.slice(0, MOST_CHARACTERS), '.')
  const found = spokenMember(value, 0)
  if (found !== null) return sentence(found.slice(0, MOST_CHARACTERS), '.')
  const members = scalars(value)
  if (members.length === 0) return null
  const is = language === 'en' ? 'is' : 'es'
  return members
    .map(([name, scalar]) => sentence(`${name} ${is} ${scalar}`, '.'))
    .join(' ')
    .slice(0, MOST_CHARACTERS)
}

/** The result as words that a condition can be held against: names and values, and whether it worked. */
export function resultAsText(content: string): { text: string; failed: boolean } {
  const value = parsed(content)
  const members = typeof value === 'string' ? [['', value] as const] : scalars(value)
  const failed = members.some(
    ([name, scalar]) =>
      (/^(?:ok|success|succeeded|outcome|status|state|error code)$/i.test(name) && FAILED.test(scalar)) ||
      (/^(?:error|errors|fault)$/i.test(name) && scalar !== '' && scalar !== 'false') ||
      (/^(?:status|status code|code)$/i.test(name) && /^[45][0-9]{2}$/.test(scalar)),
  )
  const text = members.map(([name, scalar]) => `${name} ${scalar}`).join('. ')
  return { text, failed: failed || /^\s*(?:error|failed|fehler)\b/i.test(content) }
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}

function spokenMember(value: unknown, depth: number): string | null {
  if (typeof value !== 'object' || value === null || depth > 2) return null
  const members = value as Record<string, unknown>
  for (const name of SPOKEN) {
    const text = Object.hasOwn(members, name) ? members[name] : undefined
    if (typeof text === 'string' && text.trim() !== '') return text
  }
  for (const inner of Object.values(members).slice(0, MOST_MEMBERS)) {
    const found = spokenMember(inner, depth + 1)
    if (found !== null) return found
  }
  return null
}

/** Names in words ("order_number": "order number") and values; of nested objects too, of lists the first members. */
function scalars(value: unknown, depth = 0): [name: string, scalar: string][] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  const found: [string, string][] = []
  for (const [name, member] of Object.entries(value).slice(0, MOST_MEMBERS)) {
    if (['string', 'number', 'boolean'].includes(typeof member)) found.push([inWords(name), String(member)])
    else found.push(...scalars(member, depth + 1))
  }
  return found.slice(0, MOST_MEMBERS)
}

/** "orderNumber", "order_number": "order number". */
export function inWords(name: string): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-.]+/g, ' ')
    .trim()
    .toLowerCase()
}
