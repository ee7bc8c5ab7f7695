/**
 * Young generation of media threads and of the recordings' writer, MB. They allocate next to nothing; V8's default of 48 MB and more
 * would be filled once and then stay resident.
 */
export const YOUNG_GENERATION_MB = 4
