import { ParleyError } from '@parley/kernel'
import { CallerScript, type CallerStep, type PhoneCall, PhoneVoice } from '@parley/phone'
import type { SpeechToText } from '@parley/providers'
import type { Settings } from '../environment.ts'
import { type LocalSpeech, startLocalSpeech } from '../speech/local-speech.ts'
import { phoneSpeech } from '../speech/phone-speech.ts'

const MAX_WAIT_MS = 60_000

interface SpokenLinesOptions {
  readonly settings: Settings
  /** BCP 47. */
  readonly language: string
  /** Speaks and hears by the built-in tones, whatever is installed. */
  readonly tones: boolean
  readonly printLine: (line: string) => void
}

/** The `--say` texts of `parley call`. The phone says each one when the far end has spoken and paused. */
export class SpokenLines {
  readonly #recogniser: SpeechToText
  readonly #local: LocalSpeech | null
  readonly #script: CallerScript

  private constructor(recogniser: SpeechToText, local: LocalSpeech | null, script: CallerScript) {
    this.#recogniser = recogniser
    this.#local = local
    this.#script = script
  }

  /**
   * Speaks and hears by the local servers, if there are a recogniser and a voice for the language and `tones` is not set; else by the
   * built-in tones. Rejects with the errors of the voice. `language`: BCP 47.
   */
  static async prepare(
    lines: readonly string[],
    { settings, language, tones, printLine }: SpokenLinesOptions,
  ): Promise<SpokenLines> {
    const local = tones ? null : await startLocalSpeech(settings, printLine)
    const { voice, recogniser } = phoneSpeech(local?.settings.vendors ?? {}, language)
    try {
      const steps = lines.flatMap((text): CallerStep[] => [
        { type: 'pause', forMs: 900, withinMs: MAX_WAIT_MS },
        { type: 'say', text },
      ])
      const script = await CallerScript.prepare(steps, new PhoneVoice(voice, language))
      return new SpokenLines(recogniser, local, script)
    } catch (error) {
      await recogniser.close()
      await local?.close()
      throw error
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
    await this.#local?.close()
  }
}
