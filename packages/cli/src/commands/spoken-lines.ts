import { ParleyError } from '@parley/kernel'
import { CallerScript, type CallerStep, type PhoneCall, PhoneVoice } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'

const PATIENCE_MS = 60_000

/** Lines for the built-in phone to say, each when the far end has spoken and paused. */
export class SpokenLines {
  readonly #recogniser = new TonesRecogniser()
  readonly #script: CallerScript

  private constructor(script: CallerScript) {
    this.#script = script
  }

  /** Rejects with the errors of the voice. `language`: BCP 47. */
  static async prepare(lines: readonly string[], language: string): Promise<SpokenLines> {
    const voice = new TonesVoice()
    try {
      const steps = lines.flatMap((text): CallerStep[] => [
        { type: 'pause', forMs: 900, withinMs: PATIENCE_MS },
        { type: 'say', text },
      ])
      return new SpokenLines(await CallerScript.prepare(steps, new PhoneVoice(voice, language)))
    } finally {
      await voice.close()
    }
  }

  /** Says the lines on the call and prints what was heard, line by line; resolves when the call ends. */
  async sayOn(call: PhoneCall, language: string, tell: (line: string) => void): Promise<void> {
    call.understand(this.#recogniser, language)
    let told = 0
    const tellHeard = () => {
      const lines = call.heardLines.filter(line => line.final)
      for (const { text } of lines.slice(told)) tell(`heard: ${text === '' ? '(speech without words)' : text}`)
      told = lines.length
    }
    try {
      await this.#script.follow(call, {
        onStep: (description, { type }) => {
          tellHeard()
          if (type === 'say') tell(description)
        },
      })
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error
      tell(error.message)
    }
    await call.ended
    tellHeard()
  }

  async close(): Promise<void> {
    await this.#recogniser.close()
  }
}
