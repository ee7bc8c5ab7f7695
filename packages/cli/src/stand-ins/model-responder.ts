import { readBrief } from '@parley/conversation'
import type { FakeChatRequest, FakeMessage, FakeReply, Respond } from '@parley/fakes'
import type { ChatMessage, GenerationRequest, LanguageModel } from '@parley/providers'

/** Texts that adapters send as user messages when the caller said nothing. */
const NOTES_OF_SILENCE = ['[The conversation begins.]', '[No reply so far.]']

/** Answers the requests to a model's stand-in with `model`. The model gets the request and the brief that was read from it. */
export function modelResponder(model: LanguageModel): Respond {
  return async chat => {
    const request = requestOf(chat)
    const events = model.generate({ ...request, brief: readBrief(request) }, new AbortController().signal)
    let text = ''
    let call: FakeReply['call'] = null
    for await (const event of events) {
      if (event.type === 'text') text += event.delta
      if (event.type === 'tool-call') call = { name: event.call.name, argumentsText: event.call.argumentsText }
    }
    return { text, call }
  }
}

function requestOf({ messages, tools, toolChoice }: FakeChatRequest): GenerationRequest {
  return { messages: messages.filter(isUtterance).map(messageOf), tools, toolChoice }
}

function isUtterance({ role, content }: FakeMessage): boolean {
  return role !== 'user' || !NOTES_OF_SILENCE.includes(content)
}

/** A `ChatMessage` without tool calls has no `toolCalls` at all. */
function messageOf(message: FakeMessage): ChatMessage {
  if (message.role !== 'assistant' || message.toolCalls.length > 0) return message
  return { role: 'assistant', content: message.content }
}
