import { Refusal, type tenantSettings as settingsSchema } from '@parley/contract'
import { type TenantSettingsRow, tenantSettings, writeTenantSettings } from '@parley/store'
import type { z } from 'zod'
import type { Handlers } from '../context.ts'

export const tenantSettingsHandlers = {
  'tenant_settings.get': async (_, { db, scope }) => ({
    status: 200,
    body: toSettings(await tenantSettings(db, scope)),
  }),

  'tenant_settings.update': async ({ body: { display_name, listening_enabled, retention } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'operation', id: 'tenant/settings' })
    const written = await writeTenantSettings(db, scope, {
      ...(display_name !== undefined && { display_name }),
      ...(listening_enabled !== undefined && { listening_enabled }),
      ...(retention !== undefined && { retention }),
    })
    if (written === null) {
      const { retention_version: version } = await tenantSettings(db, scope)
      throw new Refusal(
        'conflict',
        `the retention was changed meanwhile, its version is ${version}: read the settings again`,
        {
          reason: 'stale_revision',
          details: { current: { version } },
        },
      )
    }
    context.notifyAfterCommit('tenants', scope.tenant_id)
    return { status: 200, body: toSettings(written) }
  },
} satisfies Partial<Handlers>

function toSettings(row: TenantSettingsRow): z.input<typeof settingsSchema> {
  const { name, display_name, listening_enabled, retention_version: version, ...days } = row
  return {
    name,
    display_name,
    listening_enabled,
    retention: { ...days, source: version === 0 ? 'platform_default' : 'tenant', version },
  }
}
