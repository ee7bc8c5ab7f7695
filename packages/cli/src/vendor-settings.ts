import { VENDORS, type VendorAccess, type VendorSettings } from '@parley/providers'
import { commaList, httpAddress, key, webSocketAddress } from './setting-schemas.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Access to each vendor whose key is set, by vendor name. Appends a line for every variable with an invalid value to `problems`. */
export function readVendorSettings(environment: Environment, problems: string[]): Record<string, VendorAccess> {
  const vendors: Record<string, VendorAccess> = {}
  for (const { name, settings } of VENDORS) {
    const access = settings === null ? null : readAccess(settings, environment, problems)
    if (access !== null) vendors[name] = access
  }
  return vendors
}

/** The server of each vendor with a key, whether or not the platform has a key for it. */
export function readVendorServers(environment: Environment): Record<string, Omit<VendorAccess, 'apiKey'>> {
  return Object.fromEntries(
    VENDORS.flatMap(({ name, settings }) => {
      if (settings === null) return []
      // Invalid values are reported by `readVendorSettings`.
      const { baseUrl, models } = valuesOf(settings, environment, [])
      return [[name, { baseUrl, models }]]
    }),
  )
}

/** Null: the key is not set. */
function readAccess(settings: VendorSettings, environment: Environment, problems: string[]): VendorAccess | null {
  const { apiKey, ...server } = valuesOf(settings, environment, problems)
  return apiKey === undefined ? null : { apiKey, ...server }
}

function valuesOf(settings: VendorSettings, environment: Environment, problems: string[]) {
  const read = <Value>(name: string, schema: Schema<Value>): Value | undefined => {
    const parsed = schema.safeParse(environment[name])
    for (const issue of parsed.error?.issues ?? []) problems.push(`${name}: ${issue.message}`)
    return parsed.data
  }
  const { baseUrl, models } = settings
  const apiKey = read(settings.apiKey, key.optional())
  const url = read(baseUrl.name, (baseUrl.protocol === 'wss' ? webSocketAddress : httpAddress).optional())
  const named = models === null ? [] : read(models.name, commaList.prefault(models.default))
  return { apiKey, baseUrl: url ?? null, models: named ?? [] }
}

interface Schema<Value> {
  safeParse(value: unknown): {
    readonly data?: Value | undefined
    readonly error?: { readonly issues: readonly { readonly message: string }[] } | undefined
  }
}
