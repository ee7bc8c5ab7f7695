import type { ChatMessage } from '@parley/providers'
import type { TimelineItem } from '../timeline.ts'
import type { Utterance } from '../transcript.ts'
import { type Redaction, Redactor } from './redactor.ts'
import { redactedSipMessage } from './sip-message.ts'

interface Stored {
  readonly original: string
  readonly text: string
  /** Names that were known then. */
  readonly names: number
}

/** Takes personal data out of what one run stores: timeline items, utterances and SIP messages, in the order in which they happen. */
export class RunRedaction {
  readonly #redactor: Redactor
  readonly #kinds: Redaction['kinds']
  /** Utterances by index, so that each line is followed once. */
  readonly #lines: Stored[] = []

  constructor(redaction: Redaction) {
    this.#redactor = new Redactor(redaction)
    this.#kinds = redaction.kinds
  }

  variables(values: Readonly<Record<string, string>>): void {
    this.#redactor.variables(values)
  }

  /** What was said in the run that this one continues: a name that was given there is taken out here as well. */
  saidBefore(history: readonly ChatMessage[]): void {
    for (const { role, content } of history)
      if (role === 'user' || role === 'assistant')
        this.#redactor.line({ role: role === 'user' ? 'user' : 'agent', text: content })
  }

  sipMessage(text: string): string {
    return redactedSipMessage(text, this.#kinds)
  }

  item(item: TimelineItem): TimelineItem {
    switch (item.kind) {
      case 'utterance':
        return { ...item, text: this.#line(item) }
      case 'digits':
        return { ...item, digits: this.#redactor.keys(item.digits) }
      case 'error':
        return { ...item, message: this.#redactor.text(item.message) }
      default:
        return item
    }
  }

  /** A name that became known later is taken out of earlier utterances as well. */
  utterances(utterances: readonly Utterance[]): Utterance[] {
    return utterances.map(utterance => ({ ...utterance, text: this.#line(utterance) }))
  }

  #line({ index, role, text }: Pick<Utterance, 'index' | 'role' | 'text'>): string {
    const stored = this.#lines[index]
    const { namesKnown } = this.#redactor
    if (stored?.original === text && stored.names === namesKnown) return stored.text
    const redacted = stored === undefined ? this.#redactor.line({ role, text }) : this.#redactor.text(stored.text)
    this.#lines[index] = { original: text, text: redacted, names: this.#redactor.namesKnown }
    return redacted
  }
}
