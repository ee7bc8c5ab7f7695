type JsonObject = Readonly<Record<string, unknown>>

/** Parameters that some models refuse. */
const PARTICULAR: Readonly<Record<string, readonly ('temperature' | 'forced-tool' | 'disabled' | 'between_tools')[]>> =
  {
    'claude-haiku-4-5': ['between_tools'],
    'claude-opus-4-8': ['temperature', 'between_tools'],
    'claude-opus-5': ['temperature', 'between_tools'],
    'claude-haiku-5-5': ['temperature', 'between_tools'],
    'claude-sonnet-5-5': ['temperature', 'forced-tool', 'disabled'],
    'claude-opus-5-5': ['temperature', 'forced-tool', 'disabled', 'between_tools'],
  }

/** The service's error text for an invalid body; null: the body is valid. */
export function messagesFault(body: JsonObject): string | null {
  if (typeof body.model !== 'string') return 'model: Field required'
  if (!Number.isSafeInteger(body.max_tokens) || Number(body.max_tokens) < 1) return 'max_tokens: Field required'
  if (body.system !== undefined && (typeof body.system !== 'string' || body.system.trim() === ''))
    return 'system: text content blocks must be non-empty'
  if (!Array.isArray(body.messages) || body.messages.length === 0) return 'messages: at least one message is required'
  return particularFault(body) ?? toolsFault(body) ?? turnsFault(body.messages)
}

function particularFault(body: JsonObject): string | null {
  const refused = PARTICULAR[String(body.model)] ?? []
  const { temperature, thinking, tool_choice } = body
  if (temperature !== undefined) {
    if (refused.includes('temperature')) return '`temperature` is deprecated for this model.'
    if (typeof temperature !== 'number' || temperature < 0 || temperature > 1) return 'temperature: range: 0..1'
  }
  const kind = (thinking as JsonObject | undefined)?.type
  if (kind !== undefined && refused.some(each => each === kind))
    return `"thinking.type.${kind}" is not supported for this model.`
  const choice = (tool_choice as JsonObject | undefined)?.type
  if ((choice === 'tool' || choice === 'any') && refused.includes('forced-tool'))
    return 'tool_choice: type "tool" and "any" are not supported for this model.'
  return null
}

function toolsFault({ tools, tool_choice }: JsonObject): string | null {
  if (tools === undefined) return tool_choice === undefined ? null : 'tool_choice may only be specified with tools'
  if (!Array.isArray(tools)) return 'tools: Input should be a valid list'
  const names = new Set<unknown>()
  for (const { name, input_schema } of tools as JsonObject[]) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(name))) return 'tools.0.name: String should match pattern'
    if ((input_schema as JsonObject | undefined)?.type !== 'object') return 'tools.0.input_schema.type: Field required'
    names.add(name)
  }
  const { type, name } = (tool_choice ?? { type: 'auto' }) as JsonObject
  if (!['auto', 'any', 'tool', 'none'].includes(String(type))) return 'tool_choice.type: Input should be a valid type'
  return type === 'tool' && !names.has(name) ? `Tool '${name}' not found in provided tools` : null
}

function turnsFault(messages: readonly unknown[]): string | null {
  const seen = new Set<unknown>()
  let waiting: readonly unknown[] = []
  for (const [index, given] of messages.entries()) {
    const { role, content } = given as JsonObject
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) return `messages.${index}: roles must alternate from "user"`
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as JsonObject[])
    if (!Array.isArray(blocks) || blocks.length === 0) return `messages.${index}: content must be non-empty`
    if (blocks.some(({ type, text }) => type === 'text' && String(text ?? '').trim() === ''))
      return `messages.${index}: text content blocks must contain non-whitespace text`
    const fault = role === 'user' ? resultsFault(blocks, waiting) : callsFault(blocks, seen)
    if (fault !== null) return `messages.${index}: ${fault}`
    waiting = role === 'user' ? [] : blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
  }
  return messages.length % 2 === 1
    ? null
    : 'This model does not support assistant message prefill. The conversation must end with a user message.'
}

function callsFault(blocks: readonly JsonObject[], seen: Set<unknown>): string | null {
  for (const { type, id, input } of blocks) {
    if (type !== 'tool_use') continue
    if (!/^[a-zA-Z0-9_-]+$/.test(String(id))) return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if (seen.has(id)) return '`tool_use` ids must be unique'
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return 'tool_use.input: not a dictionary'
    seen.add(id)
  }
  return null
}

function resultsFault(blocks: readonly JsonObject[], waiting: readonly unknown[]): string | null {
  const results = blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
  if (results.some(id => !waiting.includes(id)) || new Set(results).size < results.length)
    return 'unexpected `tool_use_id` found in `tool_result` blocks'
  if (results.length < waiting.length) return '`tool_use` ids were found without `tool_result` blocks immediately after'
  const first = blocks.slice(0, results.length)
  return first.every(({ type }) => type === 'tool_result') ? null : '`tool_result` blocks must come first'
}
