// What a benchmark gives: figures with units and goals.

export interface Figure {
  median?: number;
  p99?: number;
  unit: string;
  /** Compared with p99, or with the median where there is no p99. */
  goal?: { max?: number; min?: number };
  /** What the specification says of others. */
  peer?: string;
}

export interface Benchmark {
  name: string;
  /** One line for the list. */
  about: string;
  run(say: (text: string) => void): Promise<Record<string, Figure>>;
}

/** Median and 99th percentile (nearest rank) of samples. */
export function spread(samples: readonly number[]): { median: number; p99: number } {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { median: at(0.5), p99: at(0.99) };
}
