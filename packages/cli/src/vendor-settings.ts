import { LOCAL_SERVERS, type LocalServer, VENDORS, type VendorAccess, type VendorSettings } from '@parley/providers'
import { commaList, httpAddress, key, webSocketAddress } from './setting-schemas.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Access to each vendor whose key is set, by vendor name. Appends a line for every variable with an invalid value to `problems`. */
export function readVendorSettings(environment: Environment, problems: string[]): Record<string, VendorAccess> {
  const vendors: Record<string, VendorAccess> = {}
  for (const { name, settings } of VENDORS) {
    const access = settings === null ? null : readAccess(settings, environment, problems)
    if (access !== null) vendors[name] = access
  }
  for (const server of LOCAL_SERVERS) {
    const access = readLocalServer(server, environment[server.variable], problems)
    if (access !== null) vendors[server.vendor] = access
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

const LOCAL_OPTIONS = ['model', 'languages', 'voice']
const EXAMPLE = 'http://127.0.0.1:8000/v1?model=small&languages=en,es'

/** Null: the variable is not set, or its value is invalid. */
function readLocalServer(
  { variable, model, what }: LocalServer,
  value: string | undefined,
  problems: string[],
): VendorAccess | null {
  if (value === undefined) return null
  const url = URL.canParse(value) ? new URL(value) : null
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === ''
  const unknown = [...(url?.searchParams.keys() ?? [])].filter(name => !LOCAL_OPTIONS.includes(name))
  const languages = commaList.parse(url?.searchParams.get('languages') ?? '')
  if (!isPlain) problems.push(`${variable}: must be an address such as ${EXAMPLE}`)
  else if (unknown.length > 0)
    problems.push(`${variable}: takes ${LOCAL_OPTIONS.join(', ')} after the "?", not ${unknown.join(', ')}`)
  else if (languages.some(language => !/^[a-z]{2,3}$/.test(language)))
    problems.push(`${variable}: languages must be tags such as en,es`)
  else {
    return {
      apiKey: '',
      baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, ''),
      models: [url.searchParams.get('model') || model],
      ...(languages.length > 0 && { languages }),
      ...(what === 'text to speech' && { voice: url.searchParams.get('voice') || 'alloy' }),
    }
  }
  return null
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
