import { join } from 'node:path'
import { AnsweringPhone, type AnsweringPhoneOptions, CallerScript, PhoneVoice } from '@parley/phone'
import type { TextToSpeech } from '@parley/providers'
import { ensureLocalCertificate } from '@parley/sip'
import { DEMO_PATIENT } from '../demo/demo-caller.ts'
import type { Settings } from '../environment.ts'
import type { ResolveEntry } from '../resolve-entries.ts'
import { phoneSpeech } from '../speech/phone-speech.ts'
import { homeSecret } from './home-secret.ts'

/**
 * Host name of the built-in phone. Names under `.localhost` never leave this machine (RFC 6761), and this one resolves only
 * by the override of the phone.
 */
export const PHONE_HOST = 'demo-phone.localhost'
export const PHONE_USERNAME = 'parley'
/** A number reserved for fictional use. */
const PHONE_NUMBER = '+12025550143'

const LANGUAGE = 'en'

/** The virtual phone of `npm start`, reached by the trunk `demo-phone` of the demo workspace. */
export interface BuiltInPhone {
  /** The number that a run dials, E.164. */
  readonly number: string
  /**
   * Resolves the host name to the phone, with the phone's own certificate authority. Add it to `Settings.resolve` of the
   * process that dials.
   */
  readonly override: ResolveEntry
  /** Ends its calls and closes the phone. Idempotent. */
  close(): Promise<void>
}

/** The password for calls to the phone; the secret `demo-phone` contains it. */
export function phonePassword(home: string): Promise<string> {
  return homeSecret(home, 'demo-phone-password')
}

/**
 * Opens the built-in phone on a free port of 127.0.0.1. It accepts calls over TLS, with a certificate of its own authority
 * (`home`/phone/tls), digest authentication and SRTP. It follows the script of a patient of the clinic, on up to 20 calls at
 * once. Its speech is synthesised at the first call, which rings meanwhile. Open the phone first and pass on `settings` with
 * the override:
 *
 *     const phone = await builtInPhone(settings)
 *     settings = { ...settings, resolve: [...settings.resolve, phone.override] }
 *
 * Throws the errors of an endpoint, such as "address_in_use".
 */
export async function builtInPhone(
  settings: Pick<Settings, 'home' | 'rtpPorts' | 'packetIo'> & Partial<Pick<Settings, 'vendors'>>,
  events: Pick<AnsweringPhoneOptions, 'onCall' | 'onStep'> = {},
): Promise<BuiltInPhone> {
  const { home, rtpPorts, packetIo } = settings
  const tls = await ensureLocalCertificate(join(home, 'phone'), { names: [PHONE_HOST] })
  const password = await phonePassword(home)
  const { voice, recogniser } = phoneSpeech(settings.vendors ?? {}, LANGUAGE)
  const closeSpeech = async () => {
    await Promise.all([voice.close(), recogniser.close()])
  }
  const patient = new PatientScript(voice)
  try {
    const phone = await AnsweringPhone.open({
      endpoint: {
        tls,
        rtp: { bind: '127.0.0.1', ports: rtpPorts, threads: 1, packetIo },
        userAgentName: 'Parley phone',
      },
      realm: PHONE_HOST,
      credentials: { username: PHONE_USERNAME, password },
      scriptFor: number => (number === PHONE_NUMBER ? patient.ready() : null),
      recogniser,
      language: LANGUAGE,
      ...events,
    })
    return {
      number: PHONE_NUMBER,
      override: { name: PHONE_HOST, host: '127.0.0.1', port: phone.port, transport: 'tls', caFile: tls.caPath },
      async close() {
        await phone.close()
        await closeSpeech()
      },
    }
  } catch (error) {
    await closeSpeech()
    throw error
  }
}

/** The patient's script with its speech, which is synthesised once. */
class PatientScript {
  readonly #voice: TextToSpeech
  #script: Promise<CallerScript> | null = null

  constructor(voice: TextToSpeech) {
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
