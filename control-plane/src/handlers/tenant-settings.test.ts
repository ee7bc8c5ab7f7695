import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, tally, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.test.scope()
})

const get = async () => (await workspace.call(scope, 'tenant_settings.get')).body
const update = (body: object) => workspace.call(scope, 'tenant_settings.update', { body })
const days = (recording_days: number, expected_version: number) => ({
  retention: { recording_days, transcript_days: 60, document_days: null, expected_version },
})

describe('GET and PUT /tenant/settings', () => {
  it('a new environment has the default retention of the platform at version 0', async () => {
    expect(await get()).toEqual({
      name: 'Test',
      display_name: null,
      listening_enabled: true,
      retention: {
        recording_days: 90,
        transcript_days: 365,
        document_days: null,
        source: 'platform_default',
        version: 0,
      },
    })
  })

  it('the display name can change alone, and each change of retention raises its version', async () => {
    const {
      status,
      body,
      auditedResource: about,
      notifications: announced,
    } = await update({ display_name: 'Clinic', ...days(30, 0) })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: 'Test',
      display_name: 'Clinic',
      retention: { recording_days: 30, transcript_days: 60, source: 'tenant', version: 1 },
    })
    expect(about).toEqual({ kind: 'operation', id: 'tenant/settings' })
    expect(announced).toEqual([{ topic: 'tenants', id: scope.tenant_id }])
    expect(await get()).toEqual(body)
    const renamed = (await update({ display_name: null })).body
    expect(renamed).toEqual({ ...body, display_name: null })
    expect((await update({})).body).toEqual(renamed)
  })

  it('a change with a stale retention version stores nothing and is refused with the current version', async () => {
    await update(days(30, 0))
    const stale = await update({ display_name: 'Clinic', ...days(10, 0) })
    expect(stale).toMatchObject(refused('conflict', 'stale_revision'))
    expect(stale.body.error.details.current).toEqual({ version: 1 })
    expect(await get()).toMatchObject({ display_name: null, retention: { recording_days: 30, version: 1 } })
    const impossible = await update(days(10, Number.MAX_SAFE_INTEGER))
    expect(impossible).toMatchObject(refused('conflict', 'stale_revision'))
  })

  it('of 20 concurrent changes of one retention version exactly one is stored, every time', async () => {
    for (let version = 0; version < 5; version++) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => update(days(index + 1, version))))
      expect(tally(answers)).toEqual({ '200': 1, stale_revision: 19 })
      const winner = answers.find(answer => answer.status === 200)!
      expect(await get()).toEqual(winner.body)
    }
  })

  it('settings belong to the environment of the key', async () => {
    await update({ display_name: 'Clinic' })
    const sandbox = await workspace.test.scope({ environment: 'sandbox', owner_id: scope.owner_id })
    expect((await workspace.call(sandbox, 'tenant_settings.get')).body.display_name).toBeNull()
  })
})
