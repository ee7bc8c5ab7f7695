import type { ToolDeclaration } from '../../language-model/language-model.ts'
import { conditionOf } from './condition.ts'
import type { Conversation } from './conversation.ts'
import { type Filled, fill } from './fill.ts'
import type { Language } from './language.ts'
import { type Answer, fit, HOLDS } from './matching.ts'
import type { Property } from './property.ts'
import { sentence } from './speech/clause.ts'
import { speechOf } from './speech/instruction.ts'
import { inWords } from './tool-result.ts'
import { parseTurn } from './turn.ts'
import { vocabulary } from './vocabulary.ts'

/** A tool call, or a question for a missing argument of it. */
type ToolUse =
  | { readonly do: 'call'; readonly name: string; readonly arguments: Filled['values']; readonly score: number }
  | { readonly do: 'ask'; readonly question: string; readonly score: number }

const MAX_TOOLS = 64
/** Number of earlier turns in which a request for the tool still counts while the agent asks for its arguments. */
const REMEMBERED_TURNS = 6

/** The use of the tool whose name and description fit the caller's turn best, with a score of at least `least`; null for none. */
export function useTool(
  tools: readonly ToolDeclaration[],
  answer: Answer,
  conversation: Conversation,
  language: Language,
  least: number,
): ToolUse | null {
  let best: ToolUse | null = null
  for (const tool of tools.slice(0, MAX_TOOLS)) {
    const filled = fill(tool.parameters, conversation, language, false)
    const score = wishFor(tool, filled, answer, conversation, language)
    if (score < least || score <= (best?.score ?? 0)) continue
    best = use(tool, filled, score, conversation, language)
  }
  return best
}

function use(
  tool: ToolDeclaration,
  filled: Filled,
  score: number,
  conversation: Conversation,
  language: Language,
): ToolUse | null {
  const missing = filled.missing[0]
  if (missing !== undefined) return { do: 'ask', question: questionFor(missing, language), score }
  const text = JSON.stringify(filled.values)
  const again = conversation.calls.some(call => call.name === tool.name && sameArguments(call.argumentsText, text))
  return again ? null : { do: 'call', name: tool.name, arguments: filled.values, score }
}

/** How much the caller wants the tool: by this turn, by an earlier turn, or because this turn completed its arguments. */
function wishFor(
  tool: ToolDeclaration,
  filled: Filled,
  answer: Answer,
  conversation: Conversation,
  language: Language,
): number {
  const now = fitOfTool(tool, answer, language)
  if (now >= HOLDS) return now
  const given = filled.missing.length === 0 && filled.fresh.length > 0
  if (given) return HOLDS
  // The agent asked for an argument of the tool because of an earlier turn.
  const requested = filled.missing.some(property => conversation.agent.includes(questionFor(property, language)))
  if (!requested || answer.turn.polarity === 'no') return 0
  const earlier = conversation.exchanges.slice(1, REMEMBERED_TURNS + 1).some(({ caller, digits }) => {
    const turn = parseTurn(caller, digits, language)
    return fitOfTool(tool, { turn, question: null }, language) >= HOLDS
  })
  return earlier ? HOLDS : 0
}

function fitOfTool(tool: ToolDeclaration, answer: Answer, language: Language): number {
  const described = tool.description.slice(0, 1024)
  const when = /(?<!\p{L})(?:when|if|cuando|si)(?!\p{L})(.*)/iu.exec(described)?.[1]
  const texts = [inWords(tool.name), described, ...(when === undefined ? [] : [when])]
  return Math.max(...texts.map(text => fit(conditionOf(text, language), answer, vocabulary(language))))
}

/** A question for the property: "Could you tell me your order number?" */
function questionFor(property: Property, language: Language): string {
  const what = property.description.trim() === '' ? inWords(property.name) : property.description.trim()
  const first = what.split(/(?<=[.!?])\s/)[0]!.slice(0, 200)
  if (first.endsWith('?')) return sentence(first, '?')!
  const noun = first.replace(/[.!]+$/, '').replace(/^\p{Lu}(?=\p{Ll})/u, letter => letter.toLowerCase())
  const requested = language === 'en' ? `Ask for ${noun}` : `Pide ${noun}`
  return speechOf(requested, language).questions[0] ?? `${noun}?`
}

function sameArguments(a: string, b: string): boolean {
  try {
    return JSON.stringify(JSON.parse(a)) === b
  } catch {
    return a === b
  }
}
