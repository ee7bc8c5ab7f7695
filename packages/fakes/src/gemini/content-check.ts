type JsonObject = Readonly<Record<string, unknown>>

interface Part {
  readonly text?: unknown
  readonly functionCall?: JsonObject
  readonly functionResponse?: JsonObject
  readonly thoughtSignature?: unknown
}

interface Content {
  readonly role?: unknown
  readonly parts?: readonly Part[]
}

/** Models since Gemini 3.5 have no temperature, and since 3.7 no minimal thinking. */
const WITHOUT_TEMPERATURE = /gemini-(3\.[5-9]|[4-9])/
const WITHOUT_MINIMAL = /gemini-(3\.[7-9]|[4-9])[^-]*-flash(?!-lite)/
const WITH_SIGNATURES = /gemini-[3-9]/

/** The service's error text for an invalid body; null: the body is valid. */
export function contentFault(model: string, body: JsonObject): string | null {
  const { contents, generationConfig = {} } = body
  if (!Array.isArray(contents) || contents.length === 0)
    return '* GenerateContentRequest.contents: contents is not specified'
  const { temperature, thinkingConfig } = generationConfig as JsonObject
  if (temperature !== undefined && WITHOUT_TEMPERATURE.test(model)) return 'temperature is not supported by this model.'
  const { thinkingLevel, thinkingBudget } = (thinkingConfig ?? {}) as JsonObject
  if (thinkingLevel !== undefined && !WITH_SIGNATURES.test(model))
    return 'Thinking level is not supported for this model.'
  if (thinkingLevel !== undefined && thinkingBudget !== undefined)
    return 'Set one of thinking_level and thinking_budget.'
  if (thinkingLevel === 'minimal' && WITHOUT_MINIMAL.test(model))
    return 'Thinking level MINIMAL is not supported for this model.'
  return toolsFault(body) ?? contentsFault(contents, WITH_SIGNATURES.test(model))
}

function toolsFault({ tools = [], toolConfig }: JsonObject): string | null {
  const declared = (tools as readonly JsonObject[]).flatMap(tool => tool.functionDeclarations as readonly JsonObject[])
  for (const { name, parametersJsonSchema: schema } of declared) {
    if (!/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(String(name))) return 'Invalid function name.'
    if (schema !== undefined && (schema as JsonObject).type !== 'object') return 'parameters should be of type OBJECT'
  }
  const config = ((toolConfig ?? {}) as JsonObject).functionCallingConfig as JsonObject | undefined
  const { mode = 'AUTO', allowedFunctionNames = [] } = config ?? {}
  if (!['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(String(mode))) return `Invalid value at mode: ${mode}`
  if (mode === 'ANY' && declared.length === 0) return 'Function calling mode is set but no tools are declared.'
  const unknown = (allowedFunctionNames as readonly unknown[]).find(name => !declared.some(one => one.name === name))
  return unknown === undefined ? null : `Allowed function ${unknown} is not declared.`
}

function contentsFault(contents: readonly Content[], needsSignatures: boolean): string | null {
  let open: readonly JsonObject[] = []
  for (const { role, parts = [] } of contents) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
    if (parts.length === 0) return 'Unable to submit request because it must include at least one parts field.'
    if (parts.some(({ text }) => text !== undefined && String(text).trim() === ''))
      return 'Text parts must not be empty.'
    const responses = parts.flatMap(part => (part.functionResponse === undefined ? [] : [part.functionResponse]))
    if (responses.length !== open.length)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    if (responses.some(({ id, name }) => !open.some(call => call.id === id && call.name === name)))
      return 'A function response must have the id and the name of its call.'
    if (responses.some(({ response }) => typeof response !== 'object' || response === null)) return 'response: object'
    const calling = parts.filter(part => part.functionCall !== undefined)
    if (needsSignatures && calling.length > 0 && typeof calling[0]!.thoughtSignature !== 'string')
      return 'Function call is missing a thought_signature in functionCall parts.'
    open = calling.map(part => part.functionCall!)
    if (open.length > 0 && role !== 'model') return 'Function calls come from the model.'
  }
  return contents.at(-1)!.role === 'model' ? 'Requests ending with a model turn are not supported.' : null
}
