import { jsonPointer } from '@parley/contract'
import type { Diagnostic, DiagnosticCode } from './diagnostic.ts'
import type { Fix } from './fixes.ts'
import type { Path } from './scope.ts'

const MAX_PATH = 1024
const MAX_MESSAGE = 4096
const MAX_LABEL = 256
const MAX_FIXES = 8
/** Maximum findings per severity, so that warnings cannot crowd out errors. */
const MAX_FINDINGS = 500

/** Collects diagnostics: errors first, then by path. */
export class Findings {
  readonly #list: Diagnostic[] = []
  readonly #count = { error: 0, warning: 0 }

  error(code: DiagnosticCode, path: Path, message: string, ...fixes: (Fix | undefined)[]): void {
    this.#add(code, 'error', path, message, fixes)
  }

  warning(code: DiagnosticCode, path: Path, message: string, ...fixes: (Fix | undefined)[]): void {
    this.#add(code, 'warning', path, message, fixes)
  }

  has(code: DiagnosticCode, path: Path): boolean {
    const pointer = pointerWithin(path)
    return this.#list.some(found => found.code === code && found.path === pointer)
  }

  #add(
    code: DiagnosticCode,
    severity: 'error' | 'warning',
    path: Path,
    message: string,
    offered: readonly (Fix | undefined)[],
  ): void {
    if (++this.#count[severity] > MAX_FINDINGS) return
    const fixes = offered
      .filter(fix => fix !== undefined)
      .slice(0, MAX_FIXES)
      .map((fix, index) => ({ id: `fix-${index + 1}`, label: cut(fix.label, MAX_LABEL), edits: fix.edits }))
    this.#list.push({
      code,
      path: pointerWithin(path),
      message: cut(message, MAX_MESSAGE),
      severity,
      ...(fixes.length > 0 && { fixes }),
    })
  }

  sorted(): Diagnostic[] {
    return this.#list.toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  }
}

function rank(diagnostic: Diagnostic): number {
  return diagnostic.severity === 'error' ? 0 : 1
}

/** The pointer, or its longest ancestor within the length limit. */
function pointerWithin(path: Path): string {
  const pointer = jsonPointer(path)
  return pointer.length <= MAX_PATH ? pointer : pointerWithin(path.slice(0, -1))
}

/** At most `max` UTF-16 units, without splitting a surrogate pair. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const short = text.slice(0, max)
  return short.isWellFormed() ? short : short.slice(0, -1)
}
