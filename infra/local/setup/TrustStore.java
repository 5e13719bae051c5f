import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;

/** Writes the certificates of a PEM file into a key store that Java reads without a password: PEM FILE. */
class TrustStore {
  public static void main(String[] files) throws Exception {
    KeyStore store = KeyStore.getInstance("JKS");
    store.load(null, null);
    try (FileInputStream pem = new FileInputStream(files[0])) {
      int place = 0;
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(pem))
        store.setCertificateEntry("authority-" + place++, one);
    }
    try (FileOutputStream file = new FileOutputStream(files[1])) {
      store.store(file, "changeit".toCharArray());
    }
  }
}
