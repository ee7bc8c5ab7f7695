import { ParleyClient } from '@parley/client'
import { describe, expect, it } from 'vitest'
import { type Serving, startServing, temporaryHome } from './serving.ts'

const clientOf = ({ demo }: Serving) => new ParleyClient({ baseUrl: demo.api!, key: demo.key! })

async function versionsOf(serving: Serving, agent_id: string): Promise<number[]> {
  const { items } = await clientOf(serving).publications.list({ params: { agent_id } })
  return items.map(({ ref }) => ref.version)
}

describe('npm start', { timeout: 180_000 }, () => {
  it('seeds a workspace once, survives kill -9, and publishes examples again that nobody edited when other services are ready first; nobody has to read what it says', async ({
    onTestFinished: atTestEnd,
  }) => {
    const home = temporaryHome(atTestEnd)
    const first = await startServing(atTestEnd, { home })
    expect(first.demo).toMatchObject({
      agent_id: 'clinic',
      number: '+12025550142',
      console: null,
      phone: '+12025550143',
    })
    const api = clientOf(first)
    const seeded = await api.agents.list()
    expect(seeded.agents.map(({ ref }) => ref.id).sort()).toEqual(['clinic', 'pizzeria'])
    expect([await versionsOf(first, 'clinic'), await versionsOf(first, 'pizzeria')]).toEqual([[0], [0]])
    const { draft } = await api.agents.get({ params: { agent_id: 'pizzeria' } })
    const { draft_id, revision: expected_revision } = draft!
    const edits = [{ type: 'agent.name' as const, name: 'Pizzería Nueva' }]
    await api.drafts.edit({ params: { agent_id: 'pizzeria' }, body: { draft_id, expected_revision, edits } })
    await first.kill()

    // Nobody listens there: the model is named, not asked.
    const env = { ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }
    const second = await startServing(atTestEnd, { home, env })
    expect(second.demo).toMatchObject({ key: first.demo.key, number: first.demo.number })
    expect([await versionsOf(second, 'clinic'), await versionsOf(second, 'pizzeria')]).toEqual([[1, 0], [0]])
    const again = clientOf(second)
    const { plan } = await again.publications.get({ params: { agent_id: 'clinic', version: 1 } })
    expect(plan.providers.llm).toMatchObject({ provider: 'hosted', model: { provider: 'anthropic' } })
    const edited = await again.drafts.get({ params: { agent_id: 'pizzeria' } })
    expect(edited).toMatchObject({ name: 'Pizzería Nueva', draft_id, revision: expected_revision + 1 })
    second.stopReading()
    expect(await second.stop(), second.output()).toBe(0)
  })
})
