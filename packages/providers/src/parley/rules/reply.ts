import type { GenerationBrief } from '../../language-model/language-model.ts'
import type { Conversation } from './conversation.ts'
import type { Language } from './language.ts'
import { questionsIn, type Speech, speechOf } from './speech/instruction.ts'
import { toolResult } from './tool-result.ts'
import { parseTurn } from './turn.ts'

type ReplyBrief = Extract<GenerationBrief, { purpose: 'reply' }>

interface Phrases {
  readonly help: string
  readonly moment: string
  readonly notUnderstood: string
  readonly sayAgain: string
  readonly stillThere: string
  readonly nobodyThere: readonly [string, string]
  readonly done: string
  readonly failed: string
  readonly anythingElse: string
  readonly welcome: string
  readonly hello: string
}

const PHRASES: Readonly<Record<Language, Phrases>> = {
  en: {
    help: 'How can I help you?',
    moment: 'One moment, please.',
    notUnderstood: 'I am sorry, I did not get that.',
    sayAgain: 'Could you say it again?',
    stillThere: 'Are you still there?',
    nobodyThere: [
      'I cannot hear anybody. I will have to end the call soon.',
      'If you can hear me, please say something now.',
    ],
    done: 'That is done.',
    failed: 'I am sorry, that did not work.',
    anythingElse: 'Can I help you with anything else?',
    welcome: 'You are welcome.',
    hello: 'Hello.',
  },
  es: {
    help: '¿En qué puedo ayudarle?',
    moment: 'Un momento, por favor.',
    notUnderstood: 'Perdone, no le he entendido.',
    sayAgain: '¿Puede repetirlo?',
    stillThere: '¿Sigue ahí?',
    nobodyThere: ['No oigo a nadie. Tendré que terminar la llamada pronto.', 'Si me oye, diga algo ahora, por favor.'],
    done: 'Ya está hecho.',
    failed: 'Lo siento, no ha podido ser.',
    anythingElse: '¿Puedo ayudarle en algo más?',
    welcome: 'De nada.',
    hello: 'Hola.',
  },
}

/** The two lines in turn, so that no reminder is like the one before. */
function nobodyThere({ nobodyThere: [first, second] }: Phrases, { agentSaid }: Conversation): string {
  return agentSaid[0]?.startsWith(first) === true ? second : first
}

/** The speech of a reply without a transition or tool call. */
export function replyTo(brief: ReplyBrief, conversation: Conversation, language: Language): string {
  const phrases = PHRASES[language]
  const speech = speechOf(brief.instruction, language)
  switch (brief.reason) {
    case 'user_turn':
      return answer(speech, conversation, language)
    case 'reminder':
      return join(phrases.stillThere, ...lastQuestion(speech, conversation))
    case 'reminder_again':
      return join(nobodyThere(phrases, conversation), ...lastQuestion(speech, conversation))
    case 'stuck':
      return notUnderstood(speech, conversation, phrases)
    case 'tool_result':
      return join(resultSpeech(conversation.result ?? '', language), afterResult(speech, conversation, phrases))
    case 'during_execution':
      return speech.sentences.length > 0 ? join(...speech.sentences) : phrases.moment
    default:
      return speech.sentences.length > 0 ? join(...speech.sentences) : phrases.help
  }
}

function resultSpeech(content: string, language: Language): string {
  const { state, speech } = toolResult(content, language)
  const { done, failed, moment } = PHRASES[language]
  return speech ?? { running: moment, succeeded: done, failed }[state]
}

/** The reply to a turn that no rule matched: the instruction once, afterwards only its question. */
function answer(speech: Speech, conversation: Conversation, language: Language): string {
  const phrases = PHRASES[language]
  if (speech.sentences.length > 0 && !wasSpoken(speech, conversation)) return join(...speech.sentences)
  const { unansweredExchange: asked } = conversation
  const turn = parseTurn(asked?.caller ?? '', asked?.digits ?? null, language)
  const again = lastQuestion(speech, conversation)
  if (turn.concepts.has('repeat'))
    return join(...(speech.sentences.length > 0 ? speech.sentences : [conversation.agent]))
  const courtesy = turn.concepts.has('thanks') ? phrases.welcome : turn.concepts.has('greeting') ? phrases.hello : null
  if (courtesy !== null && turn.polarity !== 'no') return join(courtesy, ...(again.length > 0 ? again : [phrases.help]))
  return notUnderstood(speech, conversation, phrases)
}

function notUnderstood(speech: Speech, conversation: Conversation, phrases: Phrases): string {
  const again = lastQuestion(speech, conversation)
  return join(phrases.notUnderstood, ...(again.length > 0 ? again : [phrases.sayAgain]))
}

function lastQuestion(speech: Speech, conversation: Conversation): readonly string[] {
  return speech.questions.length > 0 ? speech.questions : questionsIn(conversation.agent).slice(-1)
}

/** The questions after a tool result. Questions that the agent already asked are left out: they were answered before the call. */
function afterResult(speech: Speech, conversation: Conversation, phrases: Phrases): string {
  const open = speech.questions.filter(question => !conversation.agentSaid.some(earlier => earlier.includes(question)))
  return open.length > 0 ? join(...open) : speech.questions.length > 0 ? phrases.anythingElse : ''
}

function wasSpoken(speech: Speech, conversation: Conversation): boolean {
  const last = speech.questions.at(-1) ?? speech.sentences.at(-1) ?? ''
  return conversation.agentSaid.some(earlier => earlier.includes(last))
}

function join(...sentences: readonly string[]): string {
  return sentences.filter(sentence => sentence !== '').join(' ')
}
