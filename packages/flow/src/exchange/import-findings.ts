import type { Diagnostic, Json } from '@parley/contract'
import { isObject, type JsonObject, shown } from './json.ts'
import type { SourceLocation } from './source-location.ts'

/** A model that an export names and that `model_bindings` must map to a model of this platform. */
export interface NeededModel {
  /** JSON pointer into the request. */
  readonly path: string
  readonly sourceModel: string | null
  readonly bound: boolean
}

export type WarningCode =
  | 'field_ignored'
  | 'setting_unknown'
  | 'id_renamed'
  | 'voice_replaced'
  | 'unsupported_capability'
  | 'language_unsupported'

type Fixes = NonNullable<Diagnostic['fixes']>

/** Limits of what one import stores and reports. */
const MAX_UNPLACED = 5000
const MAX_WARNINGS = 1000
/** Maximum length of a warning's message, in characters. */
const MAX_MESSAGE = 4096

/** Names of fields that hold secrets, such as `cal_api_key`. */
const SECRET = /(api_?key|secret|token|password)$/i

/** Collects warnings, unplaced values and needed models while an export is read. */
export class ImportFindings {
  readonly #unplaced: (readonly [SourceLocation, Json])[] = []
  /** Messages are built when they are read, because `attempt` drops most warnings of a bad export. */
  readonly #warnings: (() => Diagnostic)[] = []
  readonly models: NeededModel[] = []
  readonly #places = new Map<string, string>()
  #unstored = 0
  #unreportedWarnings = 0

  /** A node or a tool was read from here. */
  place(location: SourceLocation): void {
    this.#places.set(location.pointer, location.path)
  }

  /** The path into the request of a node or a tool that was read, by its pointer with ids for indexes. */
  placeOf(pointer: string): string | undefined {
    return this.#places.get(pointer)
  }

  /** Stores `value` for the next export, without secrets. */
  keep(location: SourceLocation, value: Json): void {
    const stored = this.#withoutSecrets(value, location)
    if (stored === undefined) return
    if (this.#unplaced.length < MAX_UNPLACED) this.#unplaced.push([location, stored])
    else this.#unstored++
  }

  /** Removes credentials of other services: everybody who reads the draft would see them. */
  #withoutSecrets(value: Json, location: SourceLocation): Json | undefined {
    if (SECRET.test(location.name) && typeof value === 'string' && value !== '') {
      this.warn(
        'field_ignored',
        location,
        `\`${shown(location.name)}\` is a secret and is not stored: create a secret of your environment instead`,
      )
      return undefined
    }
    if (Array.isArray(value))
      return value.map((item, index) => this.#withoutSecrets(item, location.item(index, '')) ?? null)
    if (!isObject(value)) return value
    const members = Object.entries(value).map(([name, member]) => [
      name,
      this.#withoutSecrets(member, location.in(name)),
    ])
    return Object.fromEntries(members.filter(([, member]) => member !== undefined))
  }

  /** A message given as a function is built only when the warning is read. */
  warn(code: WarningCode, location: SourceLocation, message: string | (() => string), fixes?: Fixes): void {
    if (this.#warnings.length >= MAX_WARNINGS) {
      this.#unreportedWarnings++
      return
    }
    this.#warnings.push(() => {
      const words = typeof message === 'string' ? message : message()
      const text = [...words.slice(0, 2 * MAX_MESSAGE)].slice(0, MAX_MESSAGE).join('')
      return { code, path: location.path, message: text, severity: 'warning', ...(fixes && { fixes }) }
    })
  }

  /** Stores a value that the draft has no field for, with a warning unless it is empty. */
  leave(
    location: SourceLocation,
    value: Json,
    message?: string | (() => string),
    code: WarningCode = 'field_ignored',
  ): void {
    const isSecret = SECRET.test(location.name) && typeof value === 'string'
    this.keep(location, value)
    if (!isSecret && !isEmpty(value))
      this.warn(
        code,
        location,
        message ?? `Drafts have no field for \`${shown(location.name)}\`: it has no effect and is exported again`,
      )
  }

  /** Runs `read`, and drops its findings where it returns undefined. */
  attempt<Value>(read: () => Value | undefined): Value | undefined {
    const marks = [this.#unplaced.length, this.#warnings.length, this.models.length] as const
    const beyond = [this.#unstored, this.#unreportedWarnings] as const
    const value = read()
    if (value !== undefined) return value
    ;[this.#unplaced.length, this.#warnings.length, this.models.length] = marks
    ;[this.#unstored, this.#unreportedWarnings] = beyond
    return undefined
  }

  /** The stored values by JSON pointer, with ids for indexes, sorted by pointer. */
  get unplaced(): JsonObject {
    const entries = this.#unplaced.map(([location, value]) => [location.pointer, value] as const)
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  }

  get warnings(): Diagnostic[] {
    const all = this.#warnings.map(text => text())
    const say = (message: string) => all.push({ code: 'field_ignored', path: '', message, severity: 'warning' })
    if (this.#unreportedWarnings > 0)
      say(`${this.#unreportedWarnings} more warnings are not shown: resolve these and import again`)
    if (this.#unstored > 0) say(`${this.#unstored} more fields that drafts do not have are not stored`)
    return byPath(all)
  }
}

/** Errors first, then by path. */
export function byPath(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const rank = (diagnostic: Diagnostic) => (diagnostic.severity === 'error' ? 0 : 1)
  return [...diagnostics].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '') return true
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
}
