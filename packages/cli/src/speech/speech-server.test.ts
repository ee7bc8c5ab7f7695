import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SPEECH_PROGRAMS } from './installation.ts'
import { SpeechServer } from './speech-server.ts'

/** Serves on the given port; `GET /exit` ends it. */
const SERVER = `
import { createServer } from 'node:http'
process.stdin.on('data', () => {}).on('end', () => process.exit(0))
const server = createServer((request, response) => {
  response.end(process.env.PARLEY_MASTER_KEY ?? 'no key')
  if (request.url === '/exit') process.exit(7)
})
server.listen(Number(process.argv[3]), '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))
`

/** A server that runs this JavaScript in place of the Python program. */
async function start(source: string) {
  const directory = await mkdtemp(join(tmpdir(), 'parley-speech.'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const program = { ...SPEECH_PROGRAMS[0]!, script: 'server.mjs' }
  await writeFile(join(directory, program.script), source)
  const lines: string[] = []
  const printLine = (line: string) => void lines.push(line)
  const server = await SpeechServer.start({ python: process.execPath, program, printLine, directory, restartMs: 1 })
  onTestFinished(() => server.close())
  return { server, lines }
}

const read = (port: number, path = '') =>
  fetch(`http://127.0.0.1:${port}${path}`).then(
    response => response.text(),
    () => null,
  )

describe('a local speech server', () => {
  it('a server that ends by itself is started again on the same port', async () => {
    const { server, lines } = await start(SERVER)
    const { port } = server
    expect(await read(port)).toBe('no key')
    await read(port, '/exit')
    await expect.poll(() => lines).toHaveLength(1)
    expect(lines[0]).toBe(
      'The local server local_stt/moonshine-tiny-en ended (it ended with exit code 7); it starts again in 0.001 s.',
    )
    await expect.poll(() => read(port)).toBe('no key')
    expect(server.port).toBe(port)
    await server.close()
    expect(await read(port)).toBeNull()
    expect(lines).toHaveLength(1)
  })

  it('a server that does not start is reported with the last line of its errors', async () => {
    await expect(start('console.error("first\\nno module named moonshine_voice"); process.exit(1)')).rejects.toThrow(
      'server.mjs did not start: no module named moonshine_voice',
    )
  })
})
