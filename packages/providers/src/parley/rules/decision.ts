import type { GenerationBrief, GenerationRequest, TransitionTool } from '../../language-model/language-model.ts'
import { choose } from './choice.ts'
import { type Conversation, conversationIn } from './conversation.ts'
import { destinationIn } from './destination.ts'
import { fill } from './fill.ts'
import { type Language, languageOfTag } from './language.ts'
import { type Answer, HOLDS } from './matching.ts'
import { digitsToPress } from './menu.ts'
import { propertiesOf } from './property.ts'
import { replyTo } from './reply.ts'
import { questionsIn } from './speech/instruction.ts'
import { toolResult } from './tool-result.ts'
import { useTool } from './tools.ts'
import { parseTurn, type Turn } from './turn.ts'

/** The output of the model: text, or one tool call, or neither. */
export interface Decision {
  readonly text: string
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } | null
}

/** Least score of a tool call when a step begins: the caller's turn caused the step, and only a clear request is also one for a tool. */
const MIN_ENTRY_SCORE = 1.4
const NOTHING: Decision = { text: '', call: null }
type ReplyBrief = Extract<GenerationBrief, { purpose: 'reply' }>
type FillBrief = Extract<GenerationBrief, { prompt: string }>

/** The answer of the model, a pure function of the request. */
export function decide(request: GenerationRequest): Decision {
  const conversation = conversationIn(request.messages)
  const brief = request.brief ?? briefOf(request)
  const language = languageOfTag(brief.language, conversation.exchanges[0]?.caller || conversation.agent)
  switch (brief.purpose) {
    case 'reply':
      return reply(brief, request, conversation, language)
    case 'decide':
      return transition(brief.transitions, conversation, request, language)
    default:
      return filled(brief, request, conversation, language)
  }
}

/** The purpose of a request without a brief: the arguments of the tool that it names, else a reply. */
function briefOf({ toolChoice }: GenerationRequest): GenerationBrief {
  if (typeof toolChoice === 'object')
    return { purpose: 'arguments', language: 'multi', prompt: '', tool: toolChoice.name }
  return { purpose: 'reply', language: 'multi', instruction: '', reason: 'user_turn', transitions: [] }
}

function reply(
  brief: ReplyBrief,
  request: GenerationRequest,
  conversation: Conversation,
  language: Language,
): Decision {
  const answer = brief.reason === 'tool_result' ? resultOf(conversation, language) : openAnswer(conversation, language)
  const ofCaller = brief.reason !== 'tool_result'
  const chosen = answer === null ? null : choose(offered(brief.transitions, request), answer, language, ofCaller)
  const transitionTools = new Set(brief.transitions.map(({ tool }) => tool))
  const tools = allowedTools(request).filter(tool => !transitionTools.has(tool.name))
  const asks = brief.reason === 'user_turn' || brief.reason === 'enter' || brief.reason === 'return'
  const least = brief.reason === 'user_turn' ? HOLDS : MIN_ENTRY_SCORE
  const use = asks && answer !== null ? useTool(tools, answer, conversation, language, least) : null
  if (chosen !== null && chosen.score >= (use?.score ?? 0))
    return { text: '', call: { name: chosen.tool, arguments: {} } }
  if (use?.do === 'call') return { text: '', call: { name: use.name, arguments: use.arguments } }
  if (use?.do === 'ask' && brief.reason === 'user_turn') return { text: use.question, call: null }
  return { text: replyTo(brief, conversation, language), call: null }
}

/** Chooses a transition by the newest tool result after the caller's turn, else by the turn. */
function transition(
  transitions: readonly TransitionTool[],
  conversation: Conversation,
  request: GenerationRequest,
  language: Language,
): Decision {
  const candidates = offered(transitions, request)
  const result = resultOf(conversation, language)
  const byResult = result === null ? null : choose(candidates, result, language, false)
  const newestExchange = conversation.exchanges[0]
  const chosen =
    byResult ?? (newestExchange === undefined ? null : choose(candidates, answerOf(newestExchange, language), language))
  return chosen === null ? NOTHING : { text: '', call: { name: chosen.tool, arguments: {} } }
}

function openAnswer({ unansweredExchange }: Conversation, language: Language): Answer | null {
  return unansweredExchange === null ? null : answerOf(unansweredExchange, language)
}

function answerOf(exchange: { caller: string; digits: string | null; agent: string }, language: Language): Answer {
  const question = questionsIn(exchange.agent).at(-1) ?? exchange.agent
  return {
    turn: parseTurn(exchange.caller, exchange.digits, language),
    question: question === '' ? null : parseTurn(question, null, language),
  }
}

function resultOf({ result }: Conversation, language: Language): Answer | null {
  if (result === null) return null
  const { text, state } = toolResult(result, language)
  if (state === 'running') return null
  const parsed = parseTurn(text, null, language)
  const turn: Turn = {
    ...parsed,
    polarity: null,
    plain: false,
    concepts: new Set([...parsed.concepts, state]),
  }
  return { turn, question: null }
}

function filled(
  brief: FillBrief,
  request: GenerationRequest,
  conversation: Conversation,
  language: Language,
): Decision {
  const tool = allowedTools(request).find(({ name }) => name === brief.tool)
  if (tool === undefined) return NOTHING
  const { values } = fill(tool.parameters, conversation, language, true)
  const special = specialValue(brief, conversation, language)
  const name = propertiesOf(tool.parameters, language)[0]?.name
  const all = special === null || name === undefined ? values : { ...values, [name]: special }
  return { text: '', call: { name: tool.name, arguments: all } }
}

function specialValue(brief: FillBrief, conversation: Conversation, language: Language): string | null {
  if (brief.purpose === 'digits') return digitsToPress(brief.prompt, conversation, language)
  return brief.purpose === 'transfer_destination' ? destinationIn(brief.prompt, conversation, language) : null
}

function offered(transitions: readonly TransitionTool[], request: GenerationRequest): TransitionTool[] {
  const names = new Set(allowedTools(request).map(({ name }) => name))
  return transitions.filter(({ tool }) => names.has(tool))
}

function allowedTools({ tools = [], toolChoice = 'auto' }: GenerationRequest): NonNullable<GenerationRequest['tools']> {
  if (toolChoice === 'none') return []
  return typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools
}
