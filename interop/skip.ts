import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * What a test needs from the machine: `describe.skipIf(peer.missing)(`baresip calls in${peer.note}`, …)`. The note puts
 * the reason into the test's name, so that a skip is never silent; `npm test` fails on a skip without a reason.
 */
interface Requirement {
  readonly missing: boolean
  /** Empty when nothing is missing, else " (skipped: baresip is not installed: apt-get install baresip-core)". */
  readonly note: string
}

/** Each entry is a program and the Debian package that brings it. */
export function requires(programs: Readonly<Record<string, string>>): Requirement {
  const missing = Object.keys(programs).filter(program => !isOnPath(program))
  if (missing.length === 0) return { missing: false, note: '' }
  const packages = [...new Set(missing.map(program => programs[program]))].join(' ')
  const verb = missing.length === 1 ? 'is' : 'are'
  return {
    missing: true,
    note: ` (skipped: ${missing.join(', ')} ${verb} not installed: apt-get install ${packages})`,
  }
}

export const BARESIP_PROGRAMS = {
  baresip: 'baresip-core',
  'espeak-ng': 'espeak-ng',
  sox: 'sox',
  openssl: 'openssl',
  perl: 'perl',
} as const

export const SIPP_PROGRAMS = { sipp: 'sip-tester', 'espeak-ng': 'espeak-ng', sox: 'sox', ss: 'iproute2' } as const

export const CARRIER_PROGRAMS = {
  ...SIPP_PROGRAMS,
  kamailio: 'kamailio kamailio-tls-modules',
  rtpengine: 'rtpengine-daemon',
  openssl: 'openssl',
  perl: 'perl',
} as const

export const LINPHONE_PROGRAMS = {
  linphonec: 'linphone-cli',
  kamailio: 'kamailio kamailio-tls-modules',
  'espeak-ng': 'espeak-ng',
  sox: 'sox',
  ss: 'iproute2',
  openssl: 'openssl',
  perl: 'perl',
} as const

/** `pjsua2-python`: the Python of an environment with pjsua2; `.ci/run` makes one. */
export const PJSIP_PROGRAMS = {
  'pjsua2-python': 'python3-venv; .ci/run installs pjsua2-python==2.15.1.post1 there',
  'espeak-ng': 'espeak-ng',
  sox: 'sox',
  openssl: 'openssl',
} as const

/** The Python of an environment with aiortc; `.ci/run` makes one. */
export const AIORTC_PROGRAMS = {
  'aiortc-python': 'python3-venv; .ci/run installs aiortc==1.16.0 there',
} as const

/** The Python of an environment with the local recogniser and voice; `.ci/run` makes one. */
export const SPEECH_PROGRAMS = {
  'parley-speech-python': 'python3-venv; .ci/run installs packages/cli/speech/requirements.txt there',
} as const

const isOnPath = (program: string) => pathOf(program) !== undefined

/** The absolute path of a program; undefined: it is not installed. */
export function pathOf(program: string): string | undefined {
  return searchPath()
    .map(directory => join(directory, program))
    .find(path => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** Daemons live in sbin, which is not on everybody's PATH. */
function searchPath(): string[] {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'].filter(entry => entry !== '')
}
