import type { ChatMessage, GenerationRequest, ToolDeclaration } from '../language-model/language-model.ts'
import { requiringSchema } from '../language-model/strict-schema.ts'

/** Parameters of the body that the request does not contain. */
interface ChatRequestOptions {
  readonly model: string
  /** Name of the token limit: "max_completion_tokens" at OpenAI, "max_tokens" at other services. */
  readonly cap: 'max_completion_tokens' | 'max_tokens'
  /** The service guarantees the arguments of strict tools: OpenAI does. */
  readonly takesStrictTools: boolean
}

/** The body of `POST /chat/completions` for a streamed answer. */
export function chatRequest(
  request: GenerationRequest,
  { model, cap, takesStrictTools }: ChatRequestOptions,
): Record<string, unknown> {
  const { messages, tools = [], toolChoice = 'auto', temperature, maxOutputTokens } = request
  const isStrict = takesStrictTools && request.strictTools === true
  return {
    model,
    messages: messages.map(messageOf),
    // Services refuse a tool choice without tools.
    ...(tools.length > 0 && { tools: tools.map(tool => toolOf(tool, isStrict)), tool_choice: choiceOf(toolChoice) }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { [cap]: maxOutputTokens }),
    stream: true,
    stream_options: { include_usage: true },
  }
}

function messageOf(message: ChatMessage): Record<string, unknown> {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
    case 'assistant': {
      const { content, toolCalls = [] } = message
      if (toolCalls.length === 0) return { role: 'assistant', content }
      return {
        role: 'assistant',
        content: content === '' ? null : content,
        tool_calls: toolCalls.map(({ id, name, argumentsText }) => ({
          id,
          type: 'function',
          function: { name, arguments: asObjectText(argumentsText) },
        })),
      }
    }
    default:
      return { role: message.role, content: message.content }
  }
}

function toolOf({ name, description, parameters }: ToolDeclaration, isStrict: boolean): Record<string, unknown> {
  const schema = isStrict ? requiringSchema(parameters) : null
  const checked = schema === null ? { parameters } : { parameters: schema, strict: true }
  return { type: 'function', function: { name, description, ...checked } }
}

function choiceOf(choice: NonNullable<GenerationRequest['toolChoice']>): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
}

/** Arguments of an earlier call as valid JSON: some services refuse a request with malformed ones. */
function asObjectText(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}'
  } catch {
    return '{}'
  }
}
