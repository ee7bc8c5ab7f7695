import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Serving } from './serving.ts'

const WAIT_MS = 60_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Looked at by people; git ignores them. */
const SCREENSHOTS = join(import.meta.dirname, '../.scratch/console')
/** Nothing judges screenshots, and Chromium computes long for each. */
const TAKES_SCREENSHOTS = process.env.CONSOLE_SCREENSHOTS === '1'
const WIDTHS = [1400, 375]

/** A fault of accessibility, as axe reports it. */
interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Width of the window in px, colours and language. */
export interface Look {
  readonly width: number
  readonly dark?: boolean
  /** Default en-US. */
  readonly locale?: string
}

/** A visitor of the console with a browser window, and everything that the browser complained about. */
interface ConsoleVisitor {
  readonly page: Page
  readonly complaints: string[]
  /** Opens a page by its path below `/console` and waits until it has loaded. */
  open(path: string): Promise<void>
  close(): Promise<void>
}

/** Opens the console by the link that the platform printed, which signs in. */
export async function openConsole(
  browser: Browser,
  { demo }: Pick<Serving, 'demo'>,
  look: Look = { width: 1400 },
): Promise<ConsoleVisitor> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: look.width, height: 900 },
    colorScheme: look.dark === true ? 'dark' : 'light',
    locale: look.locale ?? 'en-US',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(WAIT_MS)
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(error.message))
  page.on('dialog', dialog => {
    complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  // Requests that the API refuses are reported as well; the tests expect some.
  page.on('console', line => {
    if (line.type() === 'error' && !line.text().startsWith('Failed to load resource'))
      complaints.push(`${page.url()}: ${line.text()}`)
  })
  await page.goto(demo.console!)
  await page.locator('nav').first().waitFor({ state: 'attached' })
  return {
    page,
    complaints,
    async open(path) {
      await page.goto(`${demo.api}/console${path}`)
      await page.locator('h1').waitFor()
      await page.locator('.loading').first().waitFor({ state: 'detached' })
    },
    close: () => context.close(),
  }
}

/** Serious and critical faults of accessibility on the page, as axe names them. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const run = "axe.run({ preload: false, resultTypes: ['violations'] })"
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(run)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`)
}

/** Leaves a screenshot of the page in `.scratch/console` if `CONSOLE_SCREENSHOTS` is 1: of its whole height, or of the window. */
export async function screenshot(
  page: Page,
  name: string,
  part: 'whole page' | 'window' = 'whole page',
): Promise<void> {
  if (!TAKES_SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: part === 'whole page' })
}

/** Looks at the page as it is at both widths; returns where it is too wide and the serious faults of accessibility. */
export async function lookAt(page: Page, name: string): Promise<string[]> {
  const faults: string[] = []
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    await screenshot(page, `${name}-${width}`)
    const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    if (over > 0) faults.push(`${name} is ${over} px too wide at ${width} px`)
    for (const fault of await seriousFaults(page)) faults.push(`${name}: ${fault}`)
  }
  await page.setViewportSize({ width: WIDTHS[0]!, height: 900 })
  return faults
}
