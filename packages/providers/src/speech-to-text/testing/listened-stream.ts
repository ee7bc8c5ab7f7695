import type { SpeechEvent, SpeechStream } from '../speech-to-text.ts'

const PACKET = 160

/** A stream at 8 kHz with all its events. `write` continues where the last one ended. */
export function listenTo(stream: SpeechStream, from = 1_000_000) {
  const events: SpeechEvent[] = []
  let wake = () => {}
  stream.onEvent(event => {
    events.push(event)
    wake()
  })
  const until = async (wanted: (events: readonly SpeechEvent[]) => boolean): Promise<readonly SpeechEvent[]> => {
    while (!wanted(events)) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
    return events
  }
  const line = {
    stream,
    events,
    position: from,
    until,
    write(audio: Int16Array): void {
      for (let at = 0; at < audio.length; at += PACKET) {
        const packet = audio.subarray(at, at + PACKET)
        stream.write(packet, line.position)
        line.position += packet.length
      }
    },
    silence: (ms: number) => line.write(new Int16Array(8 * ms)),
    /** Waits for the nth event of the type. */
    async event<Type extends SpeechEvent['type']>(type: Type, nth = 1) {
      const of = () => events.filter(event => event.type === type)
      await until(() => of().length >= nth)
      return of()[nth - 1] as Extract<SpeechEvent, { type: Type }>
    },
    /** The text of all final results, once `answers` finalize requests were answered. */
    async finalText(answers = 1): Promise<string> {
      await until(() => events.filter(event => event.type === 'final' && event.fromFinalize).length >= answers)
      return textOf(events)
    },
  }
  return line
}

export function textOf(events: readonly SpeechEvent[]): string {
  return events.flatMap(event => (event.type === 'final' && event.text !== '' ? [event.text] : [])).join(' ')
}
