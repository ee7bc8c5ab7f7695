import { ParleyError } from '@parley/kernel'
import { CallerScript, type CallerStep, type PhoneCall, PhoneVoice } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'

const MAX_WAIT_MS = 60_000

/** The `--say` texts of `parley call`. The phone says each one when the far end has spoken and paused. */
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
        { type: 'pause', forMs: 900, withinMs: MAX_WAIT_MS },
        { type: 'say', text },
      ])
      return new SpokenLines(await CallerScript.prepare(steps, new PhoneVoice(voice, language)))
    } finally {
      await voice.close()
    }
  }

  /** Says the lines on the call and prints what the phone hears; resolves when the call ends. */
  async sayOn(call: PhoneCall, language: string, printLine: (line: string) => void): Promise<void> {
    call.setRecogniser(this.#recogniser, language)
    let printed = 0
    const printHeard = () => {
      const lines = call.heardLines.filter(line => line.final)
      for (const { text } of lines.slice(printed)) printLine(`heard: ${text === '' ? '(speech without words)' : text}`)
      printed = lines.length
    }
    try {
      await this.#script.follow(call, {
        onStep: (description, { type }) => {
          printHeard()
          if (type === 'say') printLine(description)
        },
      })
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error
      printLine(error.message)
    }
    await call.ended
    printHeard()
  }

  async close(): Promise<void> {
    await this.#recogniser.close()
  }
}
