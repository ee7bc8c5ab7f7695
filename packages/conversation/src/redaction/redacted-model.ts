import type { ChatMessage, GenerationRequest, LanguageModel } from '@parley/providers'
import { type Redaction, Redactor } from './redactor.ts'

/** The model, which sees the conversation without personal data. Instructions of the agent's author stay as they are. */
export function redactedModel(model: LanguageModel, redaction: Redaction): LanguageModel {
  return {
    identity: model.identity,
    readiness: () => model.readiness(),
    generate: (request, signal) => model.generate(redacted(request, redaction), signal),
    close: () => model.close(),
  }
}

function redacted(request: GenerationRequest, redaction: Redaction): GenerationRequest {
  const redactor = new Redactor(redaction)
  return { ...request, messages: request.messages.map(message => redactedMessage(message, redactor)) }
}

function redactedMessage(message: ChatMessage, redactor: Redactor): ChatMessage {
  switch (message.role) {
    case 'user':
      return { ...message, content: redactor.line({ role: 'user', text: message.content }) }
    case 'assistant':
      return { ...message, content: redactor.line({ role: 'agent', text: message.content }) }
    case 'tool':
      return { ...message, content: redactor.text(message.content) }
    default:
      return message
  }
}
