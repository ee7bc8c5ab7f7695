import type { Language } from './language.ts'
import { sentence } from './speech/clause.ts'

/** Names of members that contain a text to speak, in order of preference. */
const SPOKEN = ['message', 'speech', 'text', 'summary', 'answer', 'mensaje']
const SPOKEN_IN_TEXT = /"(?:message|speech|text|summary|answer|mensaje)"\s*:\s*("(?:[^"\\]|\\.){1,1000}")/
const MAX_MEMBERS = 12
const MAX_CHARACTERS = 1000
const FAILED = /^(?:false|failed|failure|error|uncertain|denied|rejected)$/i

/** A tool result in words. */
interface ToolResult {
  readonly state: 'running' | 'succeeded' | 'failed'
  /** Names and values as text, for comparison with conditions. */
  readonly text: string
  /** The speech about the result: its text to speak, else its scalar members; null when it has neither. */
  readonly speech: string | null
}

export function toolResult(content: string, language: Language): ToolResult {
  const value = parsed(content)
  const members = typeof value === 'string' ? [['', value] as const] : scalars(value)
  const spoken = typeof value === 'string' ? value : spokenMember(value, 0)
  const failed = /^\s*(?:error|failed)\b/i.test(content) || members.some(([name, scalar]) => isFailure(name, scalar))
  const text = members.map(([name, scalar]) => `${name} ${scalar}`).join('. ')
  if (members.length === 1 && text === 'status in progress') return { state: 'running', text: '', speech: null }
  // A failure and "status: done" have fixed phrases instead of spoken facts.
  const facts = failed || text === 'status done' ? [] : members
  const speech = spoken === null ? factsInWords(facts, language) : sentence(spoken.slice(0, MAX_CHARACTERS), '.')
  return { state: failed ? 'failed' : 'succeeded', text, speech }
}

function isFailure(name: string, scalar: string): boolean {
  if (/^(?:ok|success|succeeded|outcome|status|state)$/i.test(name) && FAILED.test(scalar)) return true
  if (/^(?:error|errors|fault)$/i.test(name)) return scalar !== '' && scalar !== 'false'
  return /^(?:status|status code|code)$/i.test(name) && /^[45][0-9]{2}$/.test(scalar)
}

function factsInWords(facts: readonly (readonly [name: string, scalar: string])[], language: Language): string | null {
  const is = language === 'en' ? 'is' : 'es'
  const sentences = facts.flatMap(([name, scalar]) => sentence(`${name} ${is} ${scalar}`, '.') ?? [])
  return sentences.length === 0 ? null : sentences.join(' ').slice(0, MAX_CHARACTERS)
}

/** The parsed JSON, or the text itself when it is not JSON. Of truncated JSON only the text to speak is taken. */
function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    if (!/^\s*[{[]/.test(content)) return content
    const spoken = SPOKEN_IN_TEXT.exec(content)?.[1]
    return spoken === undefined ? {} : { message: textOfLiteral(spoken) }
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
  for (const inner of Object.values(members).slice(0, MAX_MEMBERS)) {
    const found = spokenMember(inner, depth + 1)
    if (found !== null) return found
  }
  return null
}

/** Up to 12 scalar members with their names in words, including those of nested objects and lists. */
function scalars(value: unknown, depth = 0): [name: string, scalar: string][] {
  if (typeof value !== 'object' || value === null || depth > 2) return []
  const found: [string, string][] = []
  for (const [name, member] of Object.entries(value).slice(0, MAX_MEMBERS)) {
    if (['string', 'number', 'boolean'].includes(typeof member)) found.push([inWords(name), String(member)])
    else found.push(...scalars(member, depth + 1))
  }
  return found.slice(0, MAX_MEMBERS)
}

/** An identifier in words: "order number" for "orderNumber" and "order_number". */
export function inWords(name: string): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-.]+/g, ' ')
    .trim()
    .toLowerCase()
}
