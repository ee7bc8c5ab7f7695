// A page in Chromium that calls agents by the browser part of web calls and measures what it hears.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import { buildWeb } from '../scripts/web-build.mjs'
import type { AtTestEnd } from './clean-up.ts'
import { PAGE_PROBE, type PageLog } from './page-probe.ts'
import { pathOf, requires } from './skip.ts'
import { monoWav } from './wav-file.ts'

export const chromium = requires({ chromium: 'chromium' })

/** For a browser without a window that reaches nothing but this machine. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const CALL_FLAGS = [...CHROMIUM_FLAGS, '--use-fake-ui-for-media-stream', '--autoplay-policy=no-user-gesture-required']
/** Length of the file behind its last sentence: the device ends with the file. */
const SPARE_S = 60
const RATE = 16_000
const SITE_EXAMPLE = join(import.meta.dirname, '../examples/web/site-key.html')

const PAGE = `<!doctype html><meta charset="utf-8"><body><script type="module">
import { call, siteAccess } from '/parley-web.js'
window.begin = async (access, options) => {
  const audio = document.createElement('audio')
  document.body.append(audio)
  try {
    const current = await call(access, { ...options, audio })
    window.current = current
    current.on('state', state => log.states.push(state))
    current.on('user', speaking => log.user.push(speaking))
    current.on('utterance', utterance => log.utterances.push(utterance))
  } catch (error) {
    log.error = String(error.message ?? error)
  }
}
window.beginOfSite = async (siteKey, server) => {
  try {
    await window.begin(await siteAccess(siteKey, server))
  } catch (error) {
    log.error = String(error.message ?? error)
  }
}
</script>`

interface CallingPage {
  /** `scheme://host:port`; what the browser sends as `Origin`. */
  readonly origin: string
  /** Calls with the access of a web run. `options`: those of `call` of the browser part. Resolves when it was answered or refused. */
  begin(access: object, options?: object): Promise<void>
  /** Calls with a site key at the API `server`. */
  beginOfSite(siteKey: string, server: string): Promise<void>
  log(): Promise<PageLog>
  sendDigits(digits: string): Promise<void>
  hangUp(): Promise<void>
  close(): Promise<void>
}

/** Chromium with one microphone. Each call of a page hears its file from the start. */
export interface CallingBrowser {
  /** A new page. `host`: name by which it is loaded; pages of another name have another origin. Default 127.0.0.1. */
  page(host?: 'localhost'): Promise<CallingPage>
  /** The example page of a site that calls with a key of its own, at the API `api`. */
  siteOf(api: string): Promise<{ readonly page: Page; readonly origin: string }>
  /** Playwright's browser, for pages of others. */
  readonly browser: Browser
}

interface CallingBrowserOptions {
  /** Path of the file that the microphone plays once; default: the devices of the machine. */
  readonly microphone?: string
  /** Added to the environment of the browser. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts Chromium with pages that can call; the test's end ends it. */
export async function openCallingBrowser(
  atTestEnd: AtTestEnd,
  { microphone, env = {} }: CallingBrowserOptions,
): Promise<CallingBrowser> {
  const code = await buildWeb({ write: false })
  let example = ''
  const server = createServer((request, response) => {
    const isModule = request.url === '/parley-web.js'
    response.writeHead(200, { 'content-type': isModule ? 'text/javascript' : 'text/html' })
    response.end(isModule ? code : request.url === '/site' ? example : PAGE)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atTestEnd(() => void server.close())
  const devices =
    microphone === undefined
      ? []
      : ['--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${microphone}%noloop`]
  const browser = await playwright.launch({
    executablePath: pathOf('chromium')!,
    args: [...CALL_FLAGS, ...devices],
    ignoreDefaultArgs: ['--mute-audio'],
    env: { ...process.env, ...env } as Record<string, string>,
  })
  atTestEnd(() => browser.close())
  const { port } = server.address() as AddressInfo
  return {
    browser,
    async siteOf(api) {
      example = readFileSync(SITE_EXAMPLE, 'utf8').replace('http://localhost:8080', api)
      const page = await browser.newPage()
      const origin = `http://127.0.0.1:${port}`
      await page.goto(`${origin}/site`)
      return { page, origin }
    },
    async page(host) {
      const origin = `http://${host ?? '127.0.0.1'}:${port}`
      const page = await browser.newPage()
      await page.addInitScript(PAGE_PROBE)
      await page.goto(`${origin}/`)
      await page.waitForFunction('window.begin !== undefined')
      return callingPage(page, origin)
    },
  }
}

function callingPage(page: Page, origin: string): CallingPage {
  // Fetched once: a call of two minutes has 12,000 of them, and tests read the log four times a second.
  const levels: PageLog['levels'][number][] = []
  return {
    origin,
    begin: (access, options = {}) =>
      page.evaluate(`window.begin(${JSON.stringify(access)}, ${JSON.stringify(options)})`),
    beginOfSite: (siteKey, server) => page.evaluate(`window.beginOfSite('${siteKey}', '${server}')`),
    async log() {
      const log = await logOf(page, levels.length)
      levels.push(...log.levels)
      return { ...log, levels: [...levels] }
    },
    sendDigits: digits => page.evaluate(`window.current.sendDigits('${digits}')`),
    hangUp: () => page.evaluate('window.current?.hangUp()'),
    close: () => page.close(),
  }
}

/** What a page with the probe has noted so far, without the first `skipped` levels. */
export function logOf(page: Page, skipped = 0): Promise<PageLog> {
  const log = `({ ...window.log, levels: window.log.levels.slice(${skipped}) })`
  return page.evaluate<PageLog>(`window.path().catch(() => {}).then(() => ${log})`)
}

/** Path of a WAV file for a microphone, at 16 kHz or `rate`: each element is silence of this many seconds and what is then said. */
export function microphoneFile(
  atTestEnd: AtTestEnd,
  script: readonly { readonly afterS: number; readonly says: Int16Array }[],
  rate = RATE,
): string {
  const directory = mkdtempSync(join(tmpdir(), 'parley-microphone.'))
  atTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const parts = script.flatMap(({ afterS, says }) => [new Int16Array(afterS * rate), says])
  const samples = Int16Array.from([...parts, new Int16Array(SPARE_S * rate)].flatMap(part => [...part]))
  const path = join(directory, 'microphone.wav')
  writeFileSync(path, monoWav(samples, rate))
  return path
}
