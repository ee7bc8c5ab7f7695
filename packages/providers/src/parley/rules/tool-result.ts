import type { Language } from './language.ts'
import { sentence } from './speech/clause.ts'

/** Members that hold a text made to be said, the best first. */
const SPOKEN = ['message', 'speech', 'text', 'summary', 'answer', 'mensaje']
const SPOKEN_IN_TEXT = /"(?:message|speech|text|summary|answer|mensaje)"\s*:\s*("(?:[^"\\]|\\.){1,1000}")/
const MOST_MEMBERS = 12
const MOST_CHARACTERS = 1000
const FAILED = /^(?:false|failed|failure|error|uncertain|denied|rejected)$/i

/** What a tool's answer is, for a model that works by words. */
interface ToolResult {
  readonly state: 'running' | 'succeeded' | 'failed'
  /** Names and values, that a condition can be held against. */
  readonly text: string
  /** What there is to say about it: its text made to be said, else its scalar members; null where it holds neither. */
  readonly speech: string | null
}

export function toolResult(content: string, language: Language): ToolResult {
  const value = parsed(content)
  const members = typeof value === 'string' ? [['', value] as const] : scalars(value)
  const told = typeof value === 'string' ? value : spokenMember(value, 0)
  const failed = /^\s*(?:error|failed)\b/i.test(content) || members.some(([name, scalar]) => tellsFailure(name, scalar))
  const text = members.map(([name, scalar]) => `${name} ${scalar}`).join('. ')
  if (members.length === 1 && text === 'status in progress') return { state: 'running', text: '', speech: null }
  // "outcome is failed" is nothing to say, nor is "status is done".
  const facts = failed || text === 'status done' ? [] : members
  const speech = told === null ? factsInWords(facts, language) : sentence(told.slice(0, MOST_CHARACTERS), '.')
  return { state: failed ? 'failed' : 'succeeded', text, speech }
}

function tellsFailure(name: string, scalar: string): boolean {
  if (/^(?:ok|success|succeeded|outcome|status|state)$/i.test(name) && FAILED.test(scalar)) return true
  if (/^(?:error|errors|fault)$/i.test(name)) return scalar !== '' && scalar !== 'false'
  return /^(?:status|status code|code)$/i.test(name) && /^[45][0-9]{2}$/.test(scalar)
}

function factsInWords(facts: readonly (readonly [name: string, scalar: string])[], language: Language): string | null {
  const is = language === 'en' ? 'is' : 'es'
  const sentences = facts.flatMap(([name, scalar]) => sentence(`${name} ${is} ${scalar}`, '.') ?? [])
  return sentences.length === 0 ? null : sentences.join(' ').slice(0, MOST_CHARACTERS)
}

/** The JSON value; text that is none as it is, but of a document that was cut only what it has to say. */
function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    if (!/^\s*[{[]/.test(content)) return content
    const told = SPOKEN_IN_TEXT.exec(content)?.[1]
    return told === undefined ? {} : { message: textOfLiteral(told) }
  }
}

function textOfLiteral(literal: string): unknown {
  try {
    return JSON.parse(literal)
  } catch {
    return ''
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
