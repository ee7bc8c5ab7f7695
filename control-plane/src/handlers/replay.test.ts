import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertInputs } from '../testing/recorded-run.ts'
import { newChat } from '../testing/valid-requests.ts'
import { openWholeApi, type WholeApi } from '../testing/whole-api.ts'

let api: WholeApi
beforeAll(async () => {
  api = await openWholeApi()
})
afterAll(() => api?.close())

const replay = (run_id: string, body: object = {}) => api.send('runs.replay', { params: { run_id }, body })
const refused = async (run_id: string, body?: object) => {
  const { status, body: answer } = await replay(run_id, body)
  return [status, answer.error.details?.reason]
}

describe('POST /runs/{run_id}/replay', () => {
  it('POST /runs/{run_id}/replay starts a test run of one case against the publication of the run', async () => {
    const run_id = await api.world.recordedRun(await newChat(api.world))
    const run = (await api.send('runs.get', { params: { run_id } })).body
    const { status, body } = await replay(run_id)
    expect(status).toBe(202)
    expect(body).toMatchObject({ agent_id: run.agent_id, publication: run.publication, state: 'queued' })
    expect(body.suites).toEqual([{ suite_id: run_id, revision: 1, digest: run.publication.digest }])
  })

  it('POST /runs/{run_id}/replay publishes the open draft for tests, and an unchanged draft only once', async () => {
    const run_id = await api.world.recordedRun(await newChat(api.world))
    const { agent_id } = (await api.send('runs.get', { params: { run_id } })).body
    const { draft_id, revision } = await api.world.call('drafts.get', { params: { agent_id } })
    const edits = [{ type: 'agent.name', name: 'Changed' }]
    await api.world.call('drafts.edit', {
      params: { agent_id },
      body: { draft_id, expected_revision: revision, edits },
    })
    const first = await replay(run_id, { draft: true })
    expect(first.status).toBe(202)
    const second = await replay(run_id, { draft: true, after_change: 'simulate' })
    expect(second.body.publication.version).toBe(first.body.publication.version)
    const { version } = first.body.publication
    const published = (await api.send('publications.get', { params: { agent_id, version } })).body
    expect(published.publication).toMatchObject({ test: true })
  })

  it('POST /runs/{run_id}/replay refuses a run that goes on, has no log, or whose words were redacted', async () => {
    const waiting = await newChat(api.world)
    expect(await refused(waiting)).toEqual([409, 'in_progress'])
    await api.send('runs.cancel', { params: { run_id: waiting } })
    expect(await refused(waiting)).toEqual([409, 'inputs_missing'])
    await insertInputs(api.db, api.scope, waiting, true)
    expect(await refused(waiting)).toEqual([409, 'redacted'])
  })

  it('POST /runs/{run_id}/replay refuses a version that does not exist, and a version beside the draft', async () => {
    const run_id = await api.world.recordedRun(await newChat(api.world))
    expect((await replay(run_id, { version: 77 })).status).toBe(404)
    expect((await replay(run_id, { version: 0, draft: true })).status).toBe(400)
  })
})
