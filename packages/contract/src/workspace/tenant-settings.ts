import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'

const days = z.int().min(1).max(3650)
const settingsVersion = z.int().min(0)

export const tenantSettings = z
  .strictObject({
    name: text(0),
    display_name: text(1, 128).nullable(),
    /** Whether members may listen to live calls. */
    listening_enabled: z.boolean(),
    retention: z.strictObject({
      recording_days: days,
      transcript_days: days,
      /** Null: documents do not expire. */
      document_days: days.nullable(),
      source: z.enum(['platform_default', 'tenant']),
      version: settingsVersion,
    }),
  })
  .meta({ id: 'TenantSettings' })

const getTenantSettings = operation({
  id: 'tenant_settings.get',
  method: 'GET',
  path: '/api/v1/tenant/settings',
  summary: 'Read the display name and how long recordings, transcripts and documents are kept',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: tenantSettings,
  statuses: [200],
  refusals: {},
})

const updateTenantSettings = operation({
  id: 'tenant_settings.update',
  method: 'PUT',
  path: '/api/v1/tenant/settings',
  summary: 'Rename the environment for display, permit listening to live calls, change retention (compare-and-set)',
  role: 'admin',
  idempotency: 'natural',
  params: null,
  query: null,
  body: z.strictObject({
    display_name: text(1, 128).nullable().optional(),
    /** Whether members may listen to live calls. */
    listening_enabled: z.boolean().optional(),
    retention: z
      .strictObject({
        recording_days: days,
        transcript_days: days,
        document_days: days.nullable().meta({
          description: 'Days that documents for agents are kept, null: for ever.',
        }),
        expected_version: settingsVersion,
      })
      .optional(),
  }),
  output: tenantSettings,
  statuses: [200],
  refusals: { conflict: ['stale_revision'] },
})

export const tenantSettingsOperations = [getTenantSettings, updateTenantSettings] as const
