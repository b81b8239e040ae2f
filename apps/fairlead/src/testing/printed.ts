// What a command prints, in the process of a test.
import { vi } from 'vitest';

/** `vi.restoreAllMocks()` afterwards gives the streams back. */
export async function printed(work: () => Promise<number>): Promise<{ code: number; out: string; err: string }> {
  const [out, err] = ['stdout' as const, 'stderr' as const].map((name) => {
    const texts: string[] = [];
    vi.spyOn(process[name], 'write').mockImplementation((text) => texts.push(String(text)) > 0);
    return texts;
  });
  const code = await work();
  return { code, out: out?.join('') ?? '', err: err?.join('') ?? '' };
}
