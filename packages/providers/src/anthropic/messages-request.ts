import { type Turn, toolsIn, turnsOf } from '../language-model/alternating-turns.ts'
import type { GenerationRequest, ToolDeclaration } from '../language-model/language-model.ts'
import { closedSchema, optionalProperties } from '../language-model/strict-schema.ts'
import type { ClaudeTraits } from './claude-traits.ts'

/** Parameters of the body that the request does not contain. */
export interface MessagesRequestOptions {
  readonly model: string
  readonly traits: ClaudeTraits
  /** Limit of answers whose request has none; the service requires a limit. */
  readonly maxOutputTokens: number
  /** "least": as little thinking as the model allows, so that the answer begins early. "model": the model's default. */
  readonly thinking: 'least' | 'model'
}

/** Tokens for thinking, which counts as output, with models that always think. */
const ROOM_TO_THINK = 4096
/** The service accepts at most this many strict tools in a request. */
const MAX_STRICT_TOOLS = 20
/** The service accepts at most this many optional properties in all strict tools of a request together. */
const MAX_OPTIONAL_PROPERTIES = 24

/** The body of `POST /v1/messages` for a streamed answer. */
export function messagesRequest(request: GenerationRequest, options: MessagesRequestOptions): Record<string, unknown> {
  const { model, traits, thinking } = options
  const { messages, temperature, maxOutputTokens = options.maxOutputTokens } = request
  const turns = turnsOf(messages)
  const { tools, choice, order } = toolsOf(request, turns, traits)
  const system = [...messages.flatMap(({ role, content }) => (role === 'system' ? [content] : [])), order]
    .filter(text => text.trim() !== '')
    .join('\n\n')
  const isStrict = request.strictTools === true && traits.takesStrictTools === true
  const thinks = traits.haste === 'low-effort' || (thinking === 'model' && traits.haste !== 'nothing')
  return {
    model,
    max_tokens: maxOutputTokens + (thinks ? ROOM_TO_THINK : 0),
    ...(system !== '' && { system }),
    messages: turns,
    ...(tools.length > 0 && {
      tools: isStrict ? strictTools(tools) : tools.map(tool => toolOf(tool, null)),
      tool_choice: choice,
    }),
    ...(temperature !== undefined && traits.takesTemperature && { temperature: Math.min(temperature, 1) }),
    ...(thinking === 'least' && hasteOf(traits)),
    stream: true,
  }
}

function hasteOf({ haste }: ClaudeTraits): Record<string, unknown> {
  switch (haste) {
    case 'nothing':
      return {}
    case 'disabled':
      return { thinking: { type: 'disabled' } }
    case 'between-tools':
      return { thinking: { type: 'between_tools' } }
    case 'low-effort':
      return { output_config: { effort: 'low' } }
  }
}

interface Tools {
  readonly tools: readonly ToolDeclaration[]
  readonly choice: object
  /** Instruction in the system prompt for models without a forced tool choice. */
  readonly order: string
}

function toolsOf(
  { tools = [], toolChoice = 'auto' }: GenerationRequest,
  turns: readonly Turn[],
  { canBeForced }: ClaudeTraits,
): Tools {
  // The service refuses a conversation with tool calls when no tools are declared.
  if (tools.length === 0) return { tools: toolsIn(turns), choice: { type: 'none' }, order: '' }
  if (toolChoice === 'auto' || toolChoice === 'none') return { tools, choice: { type: toolChoice }, order: '' }
  const name = toolChoice === 'required' ? null : toolChoice.name
  if (canBeForced) return { tools, choice: name === null ? { type: 'any' } : { type: 'tool', name }, order: '' }
  const which = name === null ? 'one of your tools' : `the tool ${name}`
  return {
    tools: name === null ? tools : tools.filter(tool => tool.name === name),
    choice: { type: 'auto' },
    order: `Answer by calling ${which}, and write nothing else.`,
  }
}

/** The tools, each strict if its schema allows it and the limits of the service are not reached. */
function strictTools(tools: readonly ToolDeclaration[]): Record<string, unknown>[] {
  let count = 0
  let optional = 0
  return tools.map(tool => {
    const schema = closedSchema({ ...tool.parameters, type: 'object' })
    const ofTool = optionalProperties(schema)
    if (schema === null || count === MAX_STRICT_TOOLS || optional + ofTool > MAX_OPTIONAL_PROPERTIES)
      return toolOf(tool, null)
    count++
    optional += ofTool
    return toolOf(tool, schema)
  })
}

/** `strict`: the schema of a strict tool; null: the tool is not strict. */
function toolOf({ name, description, parameters }: ToolDeclaration, strict: object | null): Record<string, unknown> {
  return {
    name,
    ...(description !== '' && { description }),
    ...(strict === null ? { input_schema: { ...parameters, type: 'object' } } : { input_schema: strict, strict: true }),
  }
}
