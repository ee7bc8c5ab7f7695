import { type Turn, toolsIn, turnsOf } from '../language-model/alternating-turns.ts'
import type { GenerationRequest, ToolDeclaration } from '../language-model/language-model.ts'
import { validatedSchema } from '../language-model/strict-schema.ts'
import type { GeminiTraits } from './gemini-traits.ts'

interface ContentRequestOptions {
  readonly traits: GeminiTraits
  /** "least": as little thinking as the model allows, so that the answer begins early. "model": the model's default. */
  readonly thinking: 'least' | 'model'
}

/** Tokens for thinking, which counts as output. */
const ROOM_TO_THINK = 4096
/** Google's documented stand-in for the signature of a call that the conversation has without one. */
const NO_SIGNATURE = 'skip_thought_signature_validator'

/** The body of `POST /models/MODEL:streamGenerateContent`. */
export function contentRequest(request: GenerationRequest, options: ContentRequestOptions): Record<string, unknown> {
  const { messages } = request
  const turns = turnsOf(messages)
  const system = messages.flatMap(({ role, content }) => (role === 'system' && content.trim() !== '' ? [content] : []))
  const generationConfig = configOf(request, options)
  return {
    ...(system.length > 0 && { systemInstruction: { parts: [{ text: system.join('\n\n') }] } }),
    contents: turns.flatMap(turn => contentsOf(turn, turns, options.traits)),
    ...toolsOf(request, turns),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  }
}

function configOf(
  { temperature, maxOutputTokens }: GenerationRequest,
  { traits, thinking }: ContentRequestOptions,
): Record<string, unknown> {
  const { takesTemperature, leastThinking, alwaysThinks } = traits
  const thinks = alwaysThinks || (thinking === 'model' && leastThinking !== null)
  return {
    ...(temperature !== undefined && takesTemperature && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens: maxOutputTokens + (thinks ? ROOM_TO_THINK : 0) }),
    ...(thinking === 'least' && leastThinking !== null && { thinkingConfig: leastThinking }),
  }
}

/** The service requires the results of calls in a content of their own, directly after the calls. */
function contentsOf({ role, content }: Turn, turns: readonly Turn[], { needsSignatures }: GeminiTraits): object[] {
  if (role === 'assistant') {
    let isFirst = true
    const parts = content.map(({ type, text, id, name, input }) => {
      if (type === 'text') return { text }
      // Calls of one answer share the signature of the first.
      const signature = needsSignatures && isFirst ? { thoughtSignature: NO_SIGNATURE } : {}
      isFirst = false
      return { functionCall: { id, name, args: input }, ...signature }
    })
    return [{ role: 'model', parts }]
  }
  const results = content.flatMap(({ type, tool_use_id: id, content: result = '' }) =>
    type === 'tool_result' ? [{ functionResponse: { id, name: nameOf(id, turns), response: { result } } }] : [],
  )
  const texts = content.flatMap(({ type, text }) => (type === 'text' ? [{ text }] : []))
  return [results, texts].filter(parts => parts.length > 0).map(parts => ({ role: 'user', parts }))
}

function nameOf(id: unknown, turns: readonly Turn[]): unknown {
  return turns.flatMap(({ content }) => content).find(block => block.type === 'tool_use' && block.id === id)?.name
}

function toolsOf(request: GenerationRequest, turns: readonly Turn[]): Record<string, unknown> {
  const { tools: given = [], toolChoice = 'auto', strictTools = false } = request
  const tools = given.length > 0 ? given : toolsIn(turns)
  if (tools.length === 0) return {}
  const schemas = tools.map(({ parameters }) => validatedSchema({ ...parameters, type: 'object' }))
  const areStrict = strictTools && schemas.every(schema => schema !== null)
  const functionDeclarations = tools.map((tool, at) => declarationOf(tool, areStrict ? schemas[at]! : null))
  return {
    tools: [{ functionDeclarations }],
    toolConfig: { functionCallingConfig: choiceOf(given.length > 0 ? toolChoice : 'none', areStrict) },
  }
}

function declarationOf({ name, description, parameters }: ToolDeclaration, strict: object | null): object {
  const hasParameters = Object.keys((parameters.properties as object | undefined) ?? {}).length > 0
  return {
    name,
    description,
    ...(hasParameters && { parametersJsonSchema: strict ?? { ...parameters, type: 'object' } }),
  }
}

function choiceOf(choice: NonNullable<GenerationRequest['toolChoice']>, areStrict: boolean): object {
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'required') return { mode: 'ANY' }
  if (choice === 'auto') return { mode: areStrict ? 'VALIDATED' : 'AUTO' }
  return { mode: 'ANY', allowedFunctionNames: [choice.name] }
}
