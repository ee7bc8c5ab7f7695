import { readFile } from 'node:fs/promises'
import { systemTime } from '@parley/kernel'
import { type Endpoint, ensureLocalCertificate, type TlsIdentity } from '@parley/leg'
import { CertificateWatch } from '@parley/sip'
import { z } from 'zod'
import type { Settings } from './environment.ts'

export interface ProcessIdentity {
  readonly tls: TlsIdentity
  /** PEM file of the certificate authority that phones must trust; null: a public authority. */
  readonly authorityFile: string | null
  /** Reads the configured files again; null: none is configured. */
  readonly load: (() => Promise<TlsIdentity>) | null
}

/** The certificate of this process and the authorities it trusts: from the configured files, or from a local authority that is created on first use. */
export async function processIdentity(settings: Settings): Promise<ProcessIdentity> {
  const files = settings.tlsFiles
  if (files !== null) {
    const load = () => readIdentity(settings, files)
    return { tls: await load(), authorityFile: files.ca, load }
  }
  const { cert, key, ca, caPath } = await ensureLocalCertificate(settings.home, ownNames(settings))
  const load = async () => ({ cert, key, ca, caByName: await readNamedAuthorities(settings) })
  const watched = settings.resolve.some(entry => entry.caFile !== null)
  return { tls: await load(), authorityFile: caPath, load: watched ? load : null }
}

/** Applies changed certificate files to `endpoint` and prints each change and each problem. Returns the function that stops it. */
export function watchIdentity(
  identity: ProcessIdentity,
  endpoint: Endpoint,
  printLine: (line: string) => void,
): () => void {
  if (identity.load === null) return () => {}
  const watch = new CertificateWatch({
    time: systemTime,
    current: identity.tls,
    load: identity.load,
    apply: tls => endpoint.replaceCertificate(tls),
    onApplied: endsAt =>
      printLine(
        `New certificates are in use; the certificate of this process is valid until ${new Date(endsAt).toISOString()}.`,
      ),
    onProblem: detail => printLine(`The changed certificates are not used: ${detail}`),
  })
  return () => watch.stop()
}

async function readIdentity(settings: Settings, files: NonNullable<Settings['tlsFiles']>): Promise<TlsIdentity> {
  const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')])
  const ca = files.ca === null ? '' : await readFile(files.ca, 'utf8')
  return { cert, key, ca, systemRoots: true, caByName: await readNamedAuthorities(settings) }
}

async function readNamedAuthorities(settings: Settings): Promise<ReadonlyMap<string, string>> {
  const byName = new Map<string, string>()
  for (const { name, caFile } of settings.resolve)
    if (caFile !== null) byName.set(name, `${byName.get(name) ?? ''}${await readFile(caFile, 'utf8')}\n`)
  return byName
}

/** Names and addresses in the local certificate. */
function ownNames(settings: Settings): { readonly names: readonly string[]; readonly addresses: readonly string[] } {
  const names = new Set(['localhost'])
  const addresses = new Set(['127.0.0.1'])
  const bound = settings.sipBind === '0.0.0.0' ? [] : [settings.sipBind]
  for (const own of [settings.sipDomain, settings.sipHost ?? 'localhost', ...bound])
    if (z.ipv4().safeParse(own).success) addresses.add(own)
    else names.add(own)
  return { names: [...names], addresses: [...addresses] }
}
