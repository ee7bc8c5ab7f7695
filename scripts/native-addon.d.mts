/** Architectures that media/prebuilt has binaries for. */
export type PrebuiltArch = 'x64' | 'arm64'

/** SHA-256 of the sources with the flags that they are compiled by, which a binary must have been built of. */
export function hashOfSources(): string

/** The compiler that makes the binary for an architecture, with its version in one line; undefined: it is not installed. */
export function prebuiltCompiler(
  arch: PrebuiltArch,
): { readonly compiler: string; readonly version: string } | undefined

/** Builds the binary of an architecture into `file`. Throws with the reason when it cannot be built. */
export function buildPrebuilt(arch: PrebuiltArch, file: string): void

/** Builds all binaries of media/prebuilt and writes their manifest. */
export function writePrebuilt(): void
