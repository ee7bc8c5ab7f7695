import { setTimeout as sleep } from 'node:timers/promises'
import { type Ms, systemRandom, systemTime } from '@parley/kernel'
import { PhoneVoice } from '@parley/phone'
import { TonesVoice } from '@parley/providers'
import { SocketTransport, SystemResolver, UserAgent } from '@parley/sip'
import { crispEnd, crispEndWithTones } from './crisp-audio.ts'
import { CALLER_LINES } from './script.ts'
import { type MeasuredCall, measureCall } from './wire-caller.ts'

/** Delay between the starts of calls, so that their turns do not coincide. */
const STAGGER_MS: Ms = 40

interface CallersOptions {
  readonly target: string
  readonly calls: number
  readonly turns: number
  readonly quietMs: Ms
  readonly lines: readonly Int16Array[]
}

/** The callers' lines in the built-in voice. `knowsTones`: whether the engine removes the tones before voice activity detection. */
export async function callerLines(knowsTones: boolean): Promise<Int16Array[]> {
  const crisp = knowsTones ? crispEnd : crispEndWithTones
  const voice = new TonesVoice()
  try {
    const phone = new PhoneVoice(voice, 'en')
    const lines: Int16Array[] = []
    for (const text of CALLER_LINES) lines.push(crisp(await phone.render(text)))
    return lines
  } finally {
    await voice.close()
  }
}

/** Makes the calls at once over one user agent and measures their turns. */
export async function measureCalls(options: CallersOptions): Promise<readonly MeasuredCall[]> {
  const { target, calls, turns, quietMs, lines } = options
  const resolver = new SystemResolver({ time: systemTime })
  const parts = { time: systemTime, random: systemRandom }
  const transport = await SocketTransport.open({ ...parts, udpPort: 0, resolver })
  const userAgent = new UserAgent({
    ...parts,
    transport,
    userAgentName: 'wire',
    // The callers receive no calls.
    guard: () => ({ action: 'drop' }),
    onInvite: session => session.reject(486),
  })
  try {
    const measuring = Array.from({ length: calls }, async (_, i) => {
      await sleep(i * STAGGER_MS)
      return measureCall({ userAgent, target, name: `caller-${i + 1}`, lines, turns, quietMs })
    })
    return await Promise.all(measuring)
  } finally {
    await userAgent.close()
    await transport.close()
    resolver.close()
  }
}
