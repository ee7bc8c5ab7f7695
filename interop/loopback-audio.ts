import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { AtTestEnd } from './clean-up.ts'
import { pathOf, requires } from './skip.ts'

export const pulseAudio = requires({ pulseaudio: 'pulseaudio' })

const READY_MS = 30_000

/**
 * A sound server whose only microphone is what its only speaker plays: an echo without a room. Resolves with the environment of a
 * program that uses it.
 */
export async function startLoopbackAudio(atTestEnd: AtTestEnd): Promise<Record<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-pulse.'))
  const socket = join(directory, 'native')
  const child = spawn(
    pathOf('pulseaudio')!,
    [
      ...['-n', '--daemonize=no', '--exit-idle-time=-1', '--disable-shm', '--use-pid-file=no', '--log-target=stderr'],
      ...['-L', `module-native-protocol-unix auth-anonymous=1 socket=${socket}`],
      ...['-L', 'module-null-sink sink_name=speaker rate=48000'],
      ...['-L', 'module-remap-source source_name=microphone master=speaker.monitor'],
    ],
    { stdio: 'ignore', env: { ...process.env, HOME: directory, XDG_RUNTIME_DIR: directory } },
  )
  const exited = new Promise<void>(resolve => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  atTestEnd(async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(directory, { recursive: true, force: true })
  })
  const giveUpAt = performance.now() + READY_MS
  while (!existsSync(socket)) {
    if (performance.now() > giveUpAt || child.exitCode !== null) throw new Error('PulseAudio is not ready')
    await pause(50)
  }
  return { PULSE_SERVER: `unix:${socket}`, PULSE_SINK: 'speaker', PULSE_SOURCE: 'microphone' }
}
