import { isObject, type JsonObject, textIn } from '../json-object.ts'
import type { GenerationEvent } from '../language-model/language-model.ts'
import { ToolCallAssembly } from '../language-model/tool-call-assembly.ts'

interface Slot {
  /** Own index: services number calls from 0, give all the same index, or none. */
  readonly index: number
  id: string
  begun: boolean
  /** Arguments that arrived before the name. */
  waiting: string
}

/** Limit of the argument characters before the name of a tool call. */
const MAX_WAITING_CHARACTERS = 65_536

/** Assigns each fragment to its tool call, whatever numbering the service uses, and joins the fragments. */
export class ToolCallSlots {
  readonly #assembly = new ToolCallAssembly()
  /** The newest call of each index of the service. */
  readonly #byIndex = new Map<number, Slot>()
  readonly #byId = new Map<string, Slot>()
  #newest: Slot | null = null
  #count = 0
  #begun = 0

  /** Whether any call began. */
  get any(): boolean {
    return this.#begun > 0
  }

  /** `{index?, id?, function: {name?, arguments?}}`. */
  fragment(given: JsonObject): GenerationEvent[] {
    const called = isObject(given.function) ? given.function : {}
    const name = textIn(called, 'name')
    const slot = this.#slotOf(given, name)
    return this.#append(slot, name, argumentsIn(called))
  }

  complete(): GenerationEvent[] {
    return this.#assembly.complete()
  }

  #slotOf(given: JsonObject, name: string): Slot {
    const index = typeof given.index === 'number' ? given.index : null
    const id = textIn(given, 'id')
    const known = index === null ? this.#byId.get(id) : this.#byIndex.get(index)
    // Some services give every call index 0: a new id with a name begins another call.
    const another = known !== undefined && id !== '' && known.id !== '' && known.id !== id && name !== ''
    if (known !== undefined && !another) {
      if (known.id === '') known.id = id
      return known
    }
    if (index === null && id === '' && name === '' && this.#newest !== null) return this.#newest
    return this.#open(index, id)
  }

  #open(index: number | null, id: string): Slot {
    const slot = { index: this.#count++, id, begun: false, waiting: '' }
    if (index !== null) this.#byIndex.set(index, slot)
    if (id !== '') this.#byId.set(id, slot)
    this.#newest = slot
    return slot
  }

  #append(slot: Slot, name: string, text: string): GenerationEvent[] {
    if (!slot.begun && name === '') {
      if (slot.waiting.length < MAX_WAITING_CHARACTERS) slot.waiting += text
      return []
    }
    const events: GenerationEvent[] = []
    if (!slot.begun) {
      slot.begun = true
      this.#begun++
      events.push(this.#assembly.begin(slot.index, slot.id, name))
    }
    const fragment = this.#assembly.append(slot.index, slot.waiting + text)
    slot.waiting = ''
    return fragment === null ? events : [...events, fragment]
  }
}

/** Arguments as text; some services send the object itself. */
function argumentsIn(called: JsonObject): string {
  return isObject(called.arguments) ? JSON.stringify(called.arguments) : textIn(called, 'arguments')
}
