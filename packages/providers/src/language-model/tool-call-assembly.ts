import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { GenerationEvent } from './language-model.ts'

const MAX_CALLS = 64
const MAX_ARGUMENT_CHARACTERS = 262_144

interface Assembly {
  readonly id: string
  readonly name: string
  argumentsText: string
}

/**
 * Assembles the tool calls of one answer from the fragments that a service streams. The service gives each call an index;
 * fragments of several calls may alternate. Throws `ProviderError` "model_failed" beyond 64 calls or
 * 256 Ki characters of arguments, and for a fragment of a call that never began.
 */
export class ToolCallAssembly {
  readonly #calls = new Map<number, Assembly>()
  #characters = 0

  /** Begins a call. An empty or repeated `id` is replaced by a generated one. */
  begin(index: number, id: string, name: string): GenerationEvent {
    if (this.#calls.size >= MAX_CALLS || this.#calls.has(index))
      throw failed('more than 64 tool calls, or two with the same index')
    const taken = [...this.#calls.values()].some(call => call.id === id)
    const call = { id: id === '' || taken ? `call_${index}_${id}` : id, name, argumentsText: '' }
    this.#calls.set(index, call)
    return { type: 'tool-call-started', id: call.id, name }
  }

  /** A fragment of its arguments; null when it is empty, as first fragments often are. */
  append(index: number, delta: string): GenerationEvent | null {
    const call = this.#calls.get(index)
    if (call === undefined) throw failed('arguments of a tool call that never began')
    this.#characters += delta.length
    if (this.#characters > MAX_ARGUMENT_CHARACTERS) throw failed('the arguments of its tool calls are too long')
    call.argumentsText += delta
    return delta === '' ? null : { type: 'tool-call-arguments', id: call.id, delta }
  }

  /** All calls, in the order in which they began. Call once, when the service has completed the answer. */
  complete(): GenerationEvent[] {
    return [...this.#calls.values()].map(call => ({
      type: 'tool-call',
      call: { id: call.id, name: call.name, argumentsText: call.argumentsText },
      arguments: objectIn(call.argumentsText),
    }))
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

function failed(what: string): ProviderFailure {
  return new ProviderError('model_failed', `The model's answer is malformed: ${what}.`)
}
