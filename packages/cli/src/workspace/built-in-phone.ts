import { join } from 'node:path'
import { AnsweringPhone, type AnsweringPhoneOptions, CallerScript, PhoneVoice } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { ensureLocalCertificate } from '@parley/sip'
import { DEMO_PATIENT } from '../demo/demo-caller.ts'
import type { Settings } from '../environment.ts'
import type { ResolveEntry } from '../resolve-entries.ts'
import { keptSecret } from './kept-secret.ts'

/**
 * Where the trunk of the built-in phone ends: a name that leads nowhere but to this machine (RFC 6761), and without the
 * phone's entry before the DNS to nobody.
 */
export const PHONE_HOST = 'demo-phone.localhost'
export const PHONE_USERNAME = 'parley'
/** A number reserved for fictional use. */
const PHONE_NUMBER = '+12025550143'

const LANGUAGE = 'en'

/** The virtual phone that `npm start` brings along, behind the trunk `demo-phone` of the demo workspace. */
export interface BuiltInPhone {
  /** E.164: what a run dials. */
  readonly number: string
  /**
   * Leads the trunk's name to the phone, with the phone's own authority. It belongs into `Settings.resolve` of whatever
   * dials: into the endpoint's overrides and into its identity (`caByName`).
   */
  readonly override: ResolveEntry
  /** Hangs up and leaves nothing open. Idempotent. */
  close(): Promise<void>
}

/** The password that the phone demands and the secret `demo-phone` holds. */
export function phonePassword(home: string): Promise<string> {
  return keptSecret(home, 'demo-phone-password')
}

/**
 * Opens the built-in phone on any free port of 127.0.0.1, whatever the process's own addresses are: TLS with a certificate
 * of an authority of its own (`home`/phone/tls), digest for all who call, SRTP alone. It plays the part of the clinic's
 * patient, on up to 20 calls at once; what it says is synthesised when it is called for the first time, and that call rings
 * meanwhile. It needs nothing that is open already; open it first, and pass on `settings` with the override:
 *
 *     const phone = await builtInPhone(settings)
 *     settings = { ...settings, resolve: [...settings.resolve, phone.override] }
 *
 * Throws the errors of an endpoint ("address_in_use", …), with nothing left open.
 */
export async function builtInPhone(
  settings: Pick<Settings, 'home' | 'rtpPorts' | 'packetIo'>,
  told: Pick<AnsweringPhoneOptions, 'onCall' | 'onStep'> = {},
): Promise<BuiltInPhone> {
  const { home, rtpPorts, packetIo } = settings
  const tls = await ensureLocalCertificate(join(home, 'phone'), { names: [PHONE_HOST] })
  const password = await phonePassword(home)
  const voice = new TonesVoice()
  const recogniser = new TonesRecogniser()
  const closeEars = async () => {
    await Promise.all([voice.close(), recogniser.close()])
  }
  const part = new Part(voice)
  try {
    const phone = await AnsweringPhone.open({
      endpoint: {
        tls,
        rtp: { bind: '127.0.0.1', ports: rtpPorts, threads: 1, packetIo },
        userAgentName: 'Parley phone',
      },
      realm: PHONE_HOST,
      credentials: { username: PHONE_USERNAME, password },
      scriptFor: number => (number === PHONE_NUMBER ? part.ready() : null),
      recogniser,
      language: LANGUAGE,
      ...told,
    })
    return {
      number: PHONE_NUMBER,
      override: { name: PHONE_HOST, host: '127.0.0.1', port: phone.port, transport: 'tls', caFile: tls.caPath },
      async close() {
        await phone.close()
        await closeEars()
      },
    }
  } catch (error) {
    await closeEars()
    throw error
  }
}

/** The phone's speech, synthesised once. */
class Part {
  readonly #voice: TonesVoice
  #script: Promise<CallerScript> | null = null

  constructor(voice: TonesVoice) {
    this.#voice = voice
  }

  ready(): Promise<CallerScript> {
    this.#script ??= CallerScript.prepare(DEMO_PATIENT, new PhoneVoice(this.#voice, LANGUAGE)).catch(error => {
      // The next call tries again.
      this.#script = null
      throw error
    })
    return this.#script
  }
}
