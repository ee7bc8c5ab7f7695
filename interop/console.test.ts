// The console as people use it: a real platform, a real browser, every page.
import { ParleyApiError, type ParleyClient } from '@parley/client'
import { type Browser, chromium, type Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM_FLAGS } from './calling-page.ts'
import { type Look, lookAt, openConsole, screenshot, seriousFaults } from './console-visitor.ts'
import { clientOf, eventually, hasEnded, waitForRun } from './placed-call.ts'
import { atLastTestEnd } from './recipe.ts'
import { type SharedPlatform, sharedPlatform } from './shared-platform/shared-platform.ts'
import { pathOf, requires } from './skip.ts'

const browserProgram = requires({ chromium: 'chromium' })
const WAIT_MS = 60_000
/** Width of a telephone, px. */
const NARROW = 375
/** Whether a label of the time axis covers the next one. */
const LABELS_OVERLAP = `[...document.querySelectorAll('.ruler span')]
  .map(label => label.getBoundingClientRect())
  .filter(({ width }) => width > 0)
  .some(({ right }, index, all) => index + 1 < all.length && all[index + 1].left < right)`
const NAME = '<script>alert(1)</script>'

describe.skipIf(browserProgram.missing)(`the console in a browser${browserProgram.note}`, () => {
  const platform = sharedPlatform('console')
  const afterAllTests = atLastTestEnd()
  let serving: SharedPlatform
  let client: ParleyClient
  let browser: Browser
  let agentId: string
  let runId: string
  /** An agent whose live version has a release gate, and the suite of that gate. */
  let gated: { readonly agentId: string; readonly suiteId: string }

  beforeAll(async () => {
    serving = platform()
    client = clientOf(serving)
    browser = await chromium.launch({ executablePath: pathOf('chromium')!, args: [...CHROMIUM_FLAGS] })
    afterAllTests(() => browser.close())
    agentId = (await client.agents.create({ body: { template: 'cloud_chat', name: NAME } })).ref.id
    gated = await gatedAgent()
  })

  async function gatedAgent(): Promise<typeof gated> {
    const agent = await client.agents.create({ body: { template: 'cloud_chat', name: 'Gated' } })
    const params = { agent_id: agent.ref.id }
    const script = { kind: 'script', steps: [{ says: 'Good morning.' }] } as const
    const ends = ['completed', 'caller_hung_up', 'agent_hung_up', 'silence', 'max_duration'] as const
    const assertions = [{ type: 'outcome' as const, id: 'ends', kinds: [...ends] }]
    const test = {
      case_id: 'greets',
      name: 'Greets',
      language: 'en' as const,
      caller: { ...script, steps: [...script.steps] },
    }
    const suite = await client.testSuites.create({ body: { name: 'Mornings', cases: [{ ...test, assertions }] } })
    const rates = { maximumFalsePass: 0.2, maximumFalseBlock: 0.2, minimumEffect: 0.4, maximumTrials: 60 }
    const edit = async (edits: Parameters<typeof client.drafts.edit>[0]['body']['edits']) => {
      const { draft_id, revision } = await client.drafts.get({ params })
      return client.drafts.edit({ params, body: { draft_id, expected_revision: revision, edits } })
    }
    const values = { releaseGate: { suites: [suite.suite_id], ...rates } }
    const { draft_id, revision } = await edit([{ type: 'agent.settings', values }])
    const override = { reason: 'The first version' }
    await client.publications.publish({ params, body: { draft_id, expected_revision: revision, override } })
    await edit([{ type: 'flow.prompt', text: 'Be brief.' }])
    return { agentId: agent.ref.id, suiteId: suite.suite_id }
  }

  const visitor = (look?: Look) => openConsole(browser, serving, look)

  it('the printed link signs in and leaves neither the key nor its trace in the address', async () => {
    const { page, complaints, close } = await visitor()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    expect(page.url()).toBe(`${serving.demo.api}/console`)
    expect(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.toContain(
      'parley_live',
    )
    expect(await page.evaluate('document.cookie')).not.toContain('session')
    expect(complaints).toEqual([])
    await close()
  })

  it('a call appears on the live page with its words, and the button there hangs it up', async () => {
    const { page, complaints, open, close } = await visitor()
    await open('/live')
    const call = { agent_id: 'clinic', channel: 'phone', mode: 'outbound', to: serving.demo.phone! } as const
    runId = (await client.runs.create({ body: { ...call, metadata: { note: NAME } } })).run_id
    await page.getByText('Hello, Hillside Clinic', { exact: false }).waitFor()
    expect(await lookAt(page, 'live-call')).toEqual([])
    await page.getByRole('button', { name: 'Hang up' }).click()
    const run = await waitForRun(client, runId, hasEnded, WAIT_MS)
    expect(run.outcome).toMatchObject({ kind: 'cancelled', ended_by: 'operator' })
    expect(complaints).toEqual([])
    await close()
  })

  it('the page of a run shows its waveform, plays a word, and shows text as text', async () => {
    const read = () => client.runs.recording({ params: { run_id: runId } })
    await eventually(read, ({ media_url }) => media_url !== null, WAIT_MS)
    const { page, complaints, open, close } = await visitor()
    await open(`/runs/${runId}`)
    await page.locator('.waveform').waitFor()
    await page.locator('.word', { hasText: 'Clinic.' }).click()
    await page.waitForFunction("document.querySelector('audio').currentTime > 0")
    expect(await page.locator('.json').first().textContent()).toContain(NAME)
    expect(complaints).toEqual([])
    await close()
  })

  const PAGES = () =>
    [
      ['live', '/live'],
      ['runs', '/runs'],
      ['run', `/runs/${runId}`],
      ['agents', '/agents'],
      ['agent', '/agents/clinic'],
      ['agent-settings', '/agents/clinic/settings'],
      ['agent-versions', '/agents/clinic/versions'],
      ['agent-services', '/agents/clinic/services'],
      ['agent-chat', `/agents/${agentId}/chat`],
      ['telephony', '/telephony'],
      ['trunk', '/telephony/demo-phone'],
      ['usage', '/usage'],
      ['alerts', '/alerts'],
      ['knowledge', '/knowledge'],
      ['evaluation', '/evaluation'],
      ['suite', `/evaluation/suites/${gated.suiteId}`],
      ['keys', '/keys'],
      ['provider-keys', '/provider-keys'],
      ['secrets', '/secrets'],
      ['team', '/team'],
      ['audit', '/audit'],
      ['workspace', '/workspace'],
      ['not-found', '/nothing'],
    ] as const

  it.each([
    ['1400 px, light, English', { width: 1400 }],
    ['375 px, dark, Spanish', { width: 375, dark: true, locale: 'es-ES' }],
  ])(
    'every page fits %s, without a serious fault of accessibility and without a complaint of the browser',
    async (_, look) => {
      const { page, complaints, open, close } = await visitor(look)
      const faults: string[] = []
      for (const [name, path] of PAGES()) {
        await open(path)
        if (name === 'run') {
          await page.locator('.waveform').waitFor()
          if (await page.evaluate(LABELS_OVERLAP)) faults.push('labels of the time axis overlap')
        }
        await screenshot(page, `${name}-${look.width}`)
        const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        if (over > 0) faults.push(`${name} is ${over} px too wide`)
        for (const fault of await seriousFaults(page)) faults.push(`${name}: ${fault}`)
        if (look.width > NARROW) faults.push(...(await narrowed(page, name, look.width)))
      }
      expect([faults, complaints]).toEqual([[], []])
      await close()
    },
  )

  /** Where the page, or an open dialog, is too wide for a telephone in the same colours; the window is then as wide as before. */
  async function narrowed(page: Page, name: string, width: number): Promise<string[]> {
    await page.setViewportSize({ width: NARROW, height: 900 })
    await screenshot(page, `${name}-${NARROW}-light`)
    const over = await page.evaluate<number>(
      "Math.max(...[document.documentElement, ...document.querySelectorAll('dialog[open]')].map(one => one.scrollWidth - one.clientWidth))",
    )
    await page.setViewportSize({ width, height: 900 })
    return over > 0 ? [`${name} is ${over} px too wide at ${NARROW} px`] : []
  }

  /** Dialogs by their page and the button that opens them, in English and Spanish. */
  const DIALOGS = () =>
    [
      ['publish', `/agents/${gated.agentId}`, 'Publish …', 'Publicar …'],
      ['version', `/agents/${gated.agentId}/versions`, 'Gate', 'Control'],
      ['action', '/agents/clinic/services', 'find_patient', 'find_patient'],
      ['new-suite', '/evaluation', 'New suite', 'Nueva batería'],
      ['case', `/evaluation/suites/${gated.suiteId}`, 'Add a case', 'Añadir un caso'],
      ['test-run', `/evaluation/suites/${gated.suiteId}`, 'Test with it', 'Probar con ella'],
      ['replay', `/runs/${runId}`, 'Replay …', 'Repetir …'],
      ['new-agent', '/agents', 'New agent', 'Agente nuevo'],
      ['new-trunk', '/telephony', 'Connect a trunk', 'Conectar una troncal'],
      ['new-number', '/telephony', 'Import a number', 'Importar un número'],
      ['new-alert', '/alerts', 'New alert', 'Alerta nueva'],
      ['new-key', '/keys', 'New key', 'Clave nueva'],
      ['new-site-key', '/keys', 'New site key', 'Nueva clave de sitio'],
      ['new-secret', '/secrets', 'New secret', 'Secreto nuevo'],
      ['invite', '/team', 'Invite', 'Invitar'],
    ] as const

  it.each([
    ['1400 px, light, English', { width: 1400 }],
    ['375 px, dark, Spanish', { width: 375, dark: true, locale: 'es-ES' }],
  ])('every dialog fits %s, without a serious fault of accessibility', async (_, look) => {
    const { page, complaints, open, close } = await visitor(look)
    const faults: string[] = []
    for (const [name, path, english, spanish] of DIALOGS()) {
      await open(path)
      const button = 'locale' in look ? spanish : english
      await page.getByRole('button', { name: button, exact: true }).first().click()
      await page.locator('dialog[open] h2').first().waitFor()
      await page.locator('dialog .loading').first().waitFor({ state: 'detached' })
      await screenshot(page, `dialog-${name}-${look.width}`, 'window')
      const over = await page.locator('dialog[open]').evaluate(dialog => dialog.scrollWidth - dialog.clientWidth)
      if (over > 0) faults.push(`${name} is ${over} px too wide`)
      for (const fault of await seriousFaults(page)) faults.push(`${name}: ${fault}`)
      if (look.width > NARROW) faults.push(...(await narrowed(page, `dialog-${name}`, look.width)))
    }
    expect([faults, complaints]).toEqual([[], []])
    await close()
  })

  it('publishing with a release gate shows its test run, and its intervals and certificate once it has passed', async () => {
    const { page, complaints, open, close } = await visitor()
    await open(`/agents/${gated.agentId}`)
    await page.getByRole('button', { name: 'Publish …' }).click()
    await page.getByRole('button', { name: 'Publish and test' }).click()
    await page.getByRole('button', { name: 'Save the certificate' }).waitFor({ timeout: 4 * WAIT_MS })
    await page.getByText('95% interval').first().waitFor()
    await page.locator('dialog').getByRole('link', { name: 'Open' }).click()
    await page.getByRole('heading', { name: 'Release gate' }).waitFor()
    await page.getByRole('heading', { name: 'Gated' }).waitFor({ state: 'detached' })
    expect(await lookAt(page, 'test-run')).toEqual([])
    expect((await client.agents.get({ params: { agent_id: gated.agentId } })).head?.version).toBe(1)
    expect(complaints).toEqual([])
    await close()
  })

  it('a case that is written in the console is stored, also when somebody else changed the suite meanwhile', async () => {
    const { page, complaints, open, close } = await visitor()
    const created = await client.testSuites.create({ body: { name: 'Evenings' } })
    const params = { suite_id: created.suite_id }
    await open(`/evaluation/suites/${created.suite_id}`)
    await page.getByRole('button', { name: 'Add a case' }).click()
    const dialog = page.locator('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Asks twice')
    await dialog.getByLabel('What the caller says').fill('Hello.\nGoodbye.')
    await client.testSuites.edit({
      params,
      body: { expected_revision: 1, edits: [{ op: 'set_name', name: 'Nights' }] },
    })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    await page.getByRole('heading', { name: 'Nights' }).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { name, cases } = await client.testSuites.get({ params })
    expect([name, cases.map(({ caller }) => caller)]).toMatchObject([
      'Nights',
      [{ kind: 'script', steps: [{ says: 'Hello.' }, { says: 'Goodbye.' }] }],
    ])
    expect(complaints).toEqual([])
    await close()
  })

  it('a replay that is started on the page of a run leads to what changes in it', async () => {
    const { page, complaints, open, close } = await visitor()
    await open(`/runs/${runId}`)
    await page.getByRole('button', { name: 'Replay …' }).click()
    await page.getByLabel('Against').selectOption('own')
    await page.locator('dialog').getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('heading', { name: 'Changes in the replay' }).waitFor({ timeout: 4 * WAIT_MS })
    expect(await lookAt(page, 'replay')).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  it('the workspace page switches listening in off, and the settings of an agent make its release gate', async () => {
    const { page, complaints, open, close } = await visitor()
    await open('/workspace')
    await page.getByLabel('Members may listen to live calls').uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    const settings = () => client.tenantSettings.get({})
    await eventually(settings, ({ listening_enabled }) => !listening_enabled, WAIT_MS)
    await client.tenantSettings.update({ body: { listening_enabled: true } })

    await open(`/agents/${agentId}/settings`)
    await page.getByLabel('Mornings', { exact: false }).check()
    await page.getByLabel('A version that is worse passes at most (%)').fill('2.5')
    await page.getByLabel('Trials at most', { exact: false }).fill('300')
    const section = page.locator('section', { has: page.getByRole('heading', { name: 'Release gate' }) })
    await section.getByRole('button', { name: 'Save' }).click()
    const draft = () => client.drafts.get({ params: { agent_id: agentId } })
    const { settings: stored } = await eventually(draft, found => found.settings.releaseGate != null, WAIT_MS)
    const rates = { maximumFalsePass: 0.025, maximumFalseBlock: 0.05, minimumEffect: 0.1, maximumTrials: 300 }
    expect(stored.releaseGate).toEqual({ suites: [gated.suiteId], ...rates })
    await page.getByLabel('Mornings', { exact: false }).uncheck()
    await section.getByRole('button', { name: 'Save' }).click()
    await eventually(draft, found => found.settings.releaseGate == null, WAIT_MS)
    expect(complaints).toEqual([])
    await close()
  })

  it('settings of an agent are chosen and typed as words and numbers: the draft gets their values', async () => {
    const { page, complaints, open, close } = await visitor()
    const path = `/agents/${agentId}/settings`
    await open(path)
    const draft = () => client.drafts.get({ params: { agent_id: agentId } })
    const add = async (name: string, fill: () => Promise<unknown>) => {
      await page.getByLabel('Setting', { exact: true }).selectOption(name)
      await fill()
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      return eventually(draft, ({ settings }) => name in settings, WAIT_MS)
    }
    const value = page.getByLabel('Value', { exact: false })
    // The next setting is typed before the answer to the one before comes.
    const typed = Promise.withResolvers<void>()
    await page.route(`**/api/v1/agents/${agentId}/draft`, async route => {
      if (route.request().method() !== 'PATCH') return route.continue()
      const response = await route.fetch()
      await typed.promise
      await route.fulfill({ response })
    })
    await add('ambientSound', () => value.selectOption('coffee-shop'))
    await page.getByLabel('Setting', { exact: true }).selectOption('holdingLines')
    await value.fill('One moment.\nStill looking.')
    typed.resolve()
    await page.getByLabel('Background sound', { exact: true }).waitFor()
    expect(await value.inputValue()).toBe('One moment.\nStill looking.')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await eventually(draft, found => 'holdingLines' in found.settings, WAIT_MS)
    await add('callMemory', async () => {
      await page.getByLabel('Switched on').selectOption('true')
      await page.getByLabel('Remembered for (days)').fill('30')
    })
    await page.getByLabel('Background sound', { exact: true }).selectOption({ label: 'Call centre' })
    const form = page.locator('form.setting', { has: page.getByLabel('Background sound', { exact: true }) })
    await form.getByRole('button', { name: 'Save' }).click()
    const { settings } = await eventually(draft, found => found.settings.ambientSound === 'call-center', WAIT_MS)
    expect(settings).toMatchObject({
      ambientSound: 'call-center',
      holdingLines: ['One moment.', 'Still looking.'],
      callMemory: { enabled: true, maxAgeDays: 30 },
    })
    expect(await lookAt(page, 'settings-filled')).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  it('two people edit one draft: the slower one sees the change of the other and applies its own on top', async () => {
    const [one, two] = [await visitor(), await visitor()]
    const path = `/agents/${agentId}/settings`
    const { revision } = await client.drafts.get({ params: { agent_id: agentId } })
    await one.open(path)
    // The second browser does not learn of new revisions by itself.
    await two.open(path)
    await two.page.getByLabel('Prompt for all nodes').fill('Be brief.')
    await two.page.route(`**/api/v1/agents/${agentId}`, () => {})
    await one.page.getByLabel('Name', { exact: true }).fill('Renamed')
    await one.page.getByRole('button', { name: 'Save' }).first().click()
    await one.page.getByRole('heading', { name: 'Renamed' }).waitFor()
    await two.page.getByRole('button', { name: 'Save' }).first().click()
    await two.page.getByRole('heading', { name: 'Somebody else was faster' }).waitFor()
    await two.page.locator('.diff ins', { hasText: 'Renamed' }).waitFor()
    await two.page.getByRole('button', { name: 'Apply my change on top' }).click()
    const draft = () => client.drafts.get({ params: { agent_id: agentId } })
    const merged = await eventually(draft, ({ flow }) => flow.global_prompt === 'Be brief.', WAIT_MS)
    expect(merged.revision).toBe(revision + 2)
    expect([...one.complaints, ...two.complaints]).toEqual([])
    await Promise.all([one.close(), two.close()])
  })

  it('signing out ends the session, and the next page asks to sign in', async () => {
    const { page, close } = await visitor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await lookAt(page, 'sign-in')).toEqual([])
    await page.reload()
    await page.getByLabel('API key').fill('not-a-key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    const refused = await client.agents.get({ params: { agent_id: 'nobody' } }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ParleyApiError)
    await close()
  })
})
