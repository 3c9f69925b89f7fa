import type { NextConfig } from 'next';

export default {
  poweredByHeader: false,
  // This folder, also where a folder above has a lockfile.
  turbopack: { root: import.meta.dirname },
} satisfies NextConfig;
