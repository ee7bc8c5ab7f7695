// What people do most in the console, with the mouse and with the keyboard alone: a real platform, a browser with a microphone.
import type { ParleyClient } from '@parley/client'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { chromium, microphoneFile, openCallingBrowser } from './calling-page.ts'
import { lookAt, openConsole, seriousFaults } from './console-visitor.ts'
import { clientOf, eventually, hasEnded, waitForRun } from './placed-call.ts'
import { atLastTestEnd } from './recipe.ts'
import { type SharedPlatform, sharedPlatform } from './shared-platform/shared-platform.ts'
import { spokenWide } from './wide-speech.ts'

const WAIT_MS = 60_000
/** Tabs until the wanted control has the focus, at most. */
const MOST_TABS = 80

describe.skipIf(chromium.missing)(`what people do in the console${chromium.note}`, () => {
  const platform = sharedPlatform('console tasks')
  const afterAllTests = atLastTestEnd()
  let serving: SharedPlatform
  let client: ParleyClient
  let browser: Browser
  beforeAll(async () => {
    serving = platform()
    client = clientOf(serving)
    const says = await spokenWide('I would like to book an appointment')
    const script = Array.from({ length: 8 }, () => ({ afterS: 4, says }))
    browser = (await openCallingBrowser(afterAllTests, { microphone: microphoneFile(afterAllTests, script) })).browser
  })

  /** Its end, and with it that of its calls, is also the end of a test that fails. */
  const visitor = async () => {
    const made = await openConsole(browser, serving)
    onTestFinished(() => made.close())
    return made
  }
  const newAgent = async (name: string) => {
    const agent = await client.agents.create({ body: { template: 'cloud_chat', name } })
    return agent.ref.id
  }

  it('a visitor presses the button that calls the clinic, talks, and sees what hears them and the run', async () => {
    const { page, complaints } = await visitor()
    await page.getByRole('button', { name: 'Call Hillside Clinic' }).click()
    const dialog = page.locator('dialog')
    await dialog.getByText('What you say goes to the recogniser', { exact: false }).waitFor()
    // On a busy machine the first sentence of the microphone interrupts the greeting.
    await dialog.locator('li.agent').first().waitFor()
    await dialog.locator('li.user', { hasText: 'appointment' }).waitFor()
    expect(await lookAt(page, 'dialog-call')).toEqual([])
    await dialog.getByRole('button', { name: 'Hang up' }).click()
    await dialog.getByText('Ended', { exact: false }).first().waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    const [run] = (await client.runs.list({ query: { channel: 'web' } })).items
    await waitForRun(client, run!.run_id, hasEnded, WAIT_MS)
    await page.locator(`a[href$="/runs/${run!.run_id}"]`).click()
    await page.getByText('appointment', { exact: false }).first().waitFor()
    expect(complaints).toEqual([])
  })

  it('somebody talks to the draft of an agent by the microphone: the run is of a test version', async () => {
    const { page, complaints, open } = await visitor()
    await open('/agents/clinic/chat')
    await page.getByRole('button', { name: 'Talk to the draft' }).click()
    await page.locator('.chat li.agent').first().waitFor()
    await page.getByLabel('Keys', { exact: true }).fill('1')
    await page.getByRole('button', { name: 'Press the keys' }).click()
    await page.locator('.chat li.agent').nth(1).waitFor()
    await page.locator('.chat').getByRole('button', { name: 'Hang up' }).click()
    const [run] = (await client.runs.list({ query: { channel: 'web' } })).items
    expect(await waitForRun(client, run!.run_id, hasEnded, WAIT_MS)).toMatchObject({ test: true, agent_id: 'clinic' })
    expect(complaints).toEqual([])
  })

  it('somebody listens to a live call and finds its run by the filters', async () => {
    const { page, complaints, open } = await visitor()
    await open('/live')
    const call = { agent_id: 'clinic', channel: 'phone', mode: 'outbound', to: serving.demo.phone! } as const
    const { run_id } = await client.runs.create({ body: call })
    await page.getByRole('button', { name: 'Listen' }).click()
    await page.getByRole('button', { name: 'Stop listening' }).waitFor()
    await page.getByRole('button', { name: 'Hang up' }).click()
    await waitForRun(client, run_id, hasEnded, WAIT_MS)
    await open('/runs')
    await page.getByLabel('State', { exact: true }).selectOption('cancelled')
    await page.getByLabel('Channel', { exact: true }).selectOption('phone')
    await page.waitForURL(/state=cancelled.*channel=phone/)
    await page.locator(`a[href$="/runs/${run_id}"]`).waitFor()
    await page.getByLabel('State', { exact: true }).selectOption('failed')
    await page.locator(`a[href$="/runs/${run_id}"]`).waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('a new agent is made, its flow edited, its problem mended by the offered fix, chatted with, and published after a look at what changes', async () => {
    const { page, complaints, open } = await visitor()
    await open('/agents')
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.locator('dialog').getByLabel('Name', { exact: true }).fill('Florist')
    await page.locator('dialog').getByLabel('Template', { exact: false }).selectOption('cloud_chat')
    await page.locator('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Florist' }).waitFor()
    const agent_id = page.url().split('/').at(-1)!
    await page.getByRole('button', { name: 'Publish …' }).click()
    await page.getByRole('button', { name: 'Publish and make live' }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })

    await page.locator('.react-flow__node').first().click()
    const panel = page.getByRole('region', { name: 'The chosen node' })
    await panel.getByLabel('Text', { exact: true }).fill('Ask which flowers they want.')
    await panel.getByRole('button', { name: 'Save' }).first().click()
    const draft = () => client.drafts.get({ params: { agent_id } })
    await eventually(draft, ({ flow }) => JSON.stringify(flow).includes('Ask which flowers'), WAIT_MS)
    // A flow without a start is an error with a fix.
    const { draft_id, revision } = await draft()
    const edits = [{ type: 'flow.start' as const, component_id: null, node_id: null }]
    await client.drafts.edit({ params: { agent_id }, body: { draft_id, expected_revision: revision, edits } })
    await page.reload()
    await page.locator('.diagnostics .button.primary').first().click()
    await page.getByText('The draft can be published.').waitFor()

    await page.getByRole('button', { name: 'Publish …' }).click()
    await page.locator('dialog ins', { hasText: 'Ask which flowers' }).waitFor()
    await page.getByRole('button', { name: 'Publish and make live' }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect((await client.agents.get({ params: { agent_id } })).head?.version).toBe(1)

    await open(`/agents/${agent_id}/chat`)
    await page.getByRole('button', { name: 'Chat with the live version' }).click()
    await page.locator('.chat li.agent').first().waitFor()
    await page.getByLabel('Message').fill('Roses, please.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.chat li.agent').nth(1).waitFor()
    expect(complaints).toEqual([])
  })

  it('an admin makes a key that is shown once, and revokes it', async () => {
    const { page, complaints, open } = await visitor()
    await open('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.locator('dialog').getByLabel('Name', { exact: true }).fill('Back office')
    await page.locator('dialog button[type=submit]').click()
    await page.getByText('Copy it now: it is not shown again.').waitFor()
    const secret = await page.locator('dialog .json').textContent()
    expect(secret).toMatch(/^parley_live_\w{20}/)
    await open('/keys')
    expect(await page.content()).not.toContain(secret)
    const row = page.getByRole('row', { name: 'Back office' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await row.getByRole('button').last().click()
    await row.getByText('Revoked').waitFor()
    expect(complaints).toEqual([])
  })

  it('an admin makes a site key, which is listed and works', async () => {
    const { page, complaints, open } = await visitor()
    await open('/keys')
    await page.getByRole('button', { name: 'New site key' }).click()
    const dialog = page.locator('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Front page')
    await dialog.getByLabel('Agent', { exact: true }).selectOption('clinic')
    await dialog
      .getByLabel('Origins of the pages', { exact: false })
      .fill('https://clinic.example\nhttps://www.clinic.example')
    expect(await seriousFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Copy it now: it is not shown again.').waitFor()
    const secret = await page.locator('dialog .json').textContent()
    await open('/keys')
    await page.getByRole('row', { name: 'Front page' }).waitFor()
    const headers = { authorization: `Bearer ${secret}`, origin: 'https://www.clinic.example' }
    const response = await fetch(`${serving.demo.api}/web/calls`, { method: 'POST', headers })
    expect(response.status).toBe(201)
    const { url } = (await response.json()) as { url: string }
    await client.runs.cancel({ params: { run_id: url.split('/').at(-1)! }, body: {} })
    expect(complaints).toEqual([])
  })

  /** Presses Tab until a control that fits has the focus. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    const focused = `(() => {
      const element = document.activeElement
      const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
      return element.tagName + ' ' + label.trim()
    })()`
    const seen: string[] = []
    for (let i = 0; i < MOST_TABS; i++) {
      await page.keyboard.press('Tab')
      const current = await page.evaluate<string>(focused)
      if (name.test(current)) return
      seen.push(current)
    }
    throw new Error(`no control ${name} has the focus after ${MOST_TABS} tabs: ${seen.join(', ')}`)
  }

  it('with the keyboard alone somebody goes from page to page, opens a run, renames an agent, publishes it, and hangs up a call', async () => {
    const agent_id = await newAgent('Typed')
    const { page, complaints } = await visitor()
    await page.locator('h1').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })

    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.locator(`a[href$="/agents/${agent_id}"]`).waitFor()
    await tabTo(page, /^A Typed/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Typed' }).waitFor()
    await tabTo(page, /^A Settings/)
    await page.keyboard.press('Enter')
    await page.getByLabel('Name', { exact: true }).waitFor()
    await tabTo(page, /^INPUT Name/)
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('Typed by hand')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Typed by hand' }).waitFor()
    await page.locator('main').focus()
    await tabTo(page, /^BUTTON Publish …/)
    await page.keyboard.press('Enter')
    await tabTo(page, /^BUTTON Publish and make live/)
    await page.keyboard.press('Enter')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect((await client.agents.get({ params: { agent_id } })).head?.version).toBe(0)

    await page.keyboard.press('g')
    await page.keyboard.press('l')
    const call = { agent_id: 'clinic', channel: 'phone', mode: 'outbound', to: serving.demo.phone! } as const
    const { run_id } = await client.runs.create({ body: call })
    await page.getByRole('button', { name: 'Hang up' }).waitFor()
    await tabTo(page, /^BUTTON Hang up/)
    await page.keyboard.press('Enter')
    expect((await waitForRun(client, run_id, hasEnded, WAIT_MS)).state).toBe('cancelled')

    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.locator(`a[href$="/runs/${run_id}"]`).waitFor()
    await page.keyboard.press('/')
    await tabTo(page, /^A .*12025550/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/console\/runs\/.+/)
    expect(complaints).toEqual([])
  })
})
